# SPDX-License-Identifier: Apache-2.0
"""A stand-in for systemd's manager on a private bus: manager.py SOCKET MODE-FILE RECORD. Notes what it is asked for, one JSON object a
line, and then does what MODE-FILE says: `done` (claims it), `failed`, `refuse`, `hang` (no answer), `silent` (a job that never ends).
It moves nobody."""
import json
import sys

import dbus
import dbus.bus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

MANAGER = "org.freedesktop.systemd1"
INTERFACE = MANAGER + ".Manager"
JOB = "/org/freedesktop/systemd1/job/7"


class Manager(dbus.service.Object):
    @dbus.service.signal(INTERFACE, signature="uoss")
    def JobRemoved(self, number, job, unit, result):
        pass

    @dbus.service.method(INTERFACE, in_signature="ssa(sv)a(sa(sv))", out_signature="o", async_callbacks=("answer", "fail"))
    def StartTransientUnit(self, name, how, properties, others, answer, fail):
        with open(sys.argv[2]) as file:
            mode = file.read().strip()
        asked = {str(key): [v.signature if isinstance(v, dbus.Array) else type(v).__name__,
                            [int(n) for n in v] if isinstance(v, dbus.Array) else str(v) if isinstance(v, dbus.String) else int(v)]
                 for key, v in properties}
        with open(sys.argv[3], "a") as file:
            print(json.dumps({"name": name, "mode": how, "properties": asked, "others": len(others)}), file=file)
        if mode == "refuse":
            fail(dbus.exceptions.DBusException("not today", name=MANAGER + ".Refused"))
        elif mode != "hang":
            # One for another process first.
            if mode != "silent":
                self.JobRemoved(6, JOB[:-1] + "6", "other.scope", "failed" if mode == "done" else "done")
                GLib.idle_add(lambda: self.JobRemoved(7, JOB, name, mode) and False)
            answer(JOB)


DBusGMainLoop(set_as_default=True)
bus = dbus.bus.BusConnection("unix:path=" + sys.argv[1])
name = dbus.service.BusName(MANAGER, bus)
manager = Manager(bus, "/org/freedesktop/systemd1")
print("ready", flush=True)
GLib.MainLoop().run()

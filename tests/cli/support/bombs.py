# SPDX-License-Identifier: Apache-2.0
#
# bombs.py KIND AMOUNT [HOLD]: uses up something, but never more than AMOUNT (mebibytes, processes or seconds), so that it can be run
# without berm as well. Holds it for HOLD seconds and prints `all` or the amount it got; a process that a limit ended prints nothing.
import mmap
import os
import sys
import time

MIB = 1 << 20
PAGES = b"\x01" * MIB
HOLD = float(sys.argv[3]) if len(sys.argv) > 3 else 0


def private(amount):
    kept = []
    for _ in range(amount):
        kept.append(bytearray(PAGES))
        time.sleep(0.002)
    time.sleep(HOLD)


# No single process has much.
def children(amount):
    for _ in range(8):
        if os.fork() == 0:
            private(amount // 8)
            time.sleep(1)
            os._exit(0)
    for _ in range(8):
        os.wait()


def shared(amount):
    memory = mmap.mmap(-1, amount * MIB, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
    for i in range(amount):
        memory[i * MIB : (i + 1) * MIB] = PAGES
        time.sleep(0.002)
    time.sleep(HOLD)


def fill(fd, amount):
    for _ in range(amount):
        os.write(fd, PAGES)
        time.sleep(0.002)
    time.sleep(HOLD)


# Never mapped: in no process's own memory.
def memfd(amount):
    fill(os.memfd_create("bomb"), amount)


def tmpfs(amount):
    name = "/dev/shm/bomb-%d" % os.getpid()
    fd = os.open(name, os.O_WRONLY | os.O_CREAT, 0o600)
    os.unlink(name)
    fill(fd, amount)


# A parent's memory that its children share counts once: this one is within a limit of 1.5 times AMOUNT.
def forks(amount):
    kept = [bytearray(PAGES) for _ in range(amount)]
    for pause in [0.5] + [0.05] * 20:
        for _ in range(6):
            if os.fork() == 0:
                time.sleep(pause)
                os._exit(len(kept) - amount)
        for _ in range(6):
            os.wait()


def disk(amount):
    for i in range(amount):
        with open("bomb.%d" % i, "wb") as file:
            file.write(PAGES)
        time.sleep(0.02 if HOLD else 0.002)
    time.sleep(HOLD)


# In one file that has no name any more.
def removed(amount):
    fd = os.open("bomb", os.O_WRONLY | os.O_CREAT, 0o600)
    os.unlink("bomb")
    fill(fd, amount)


# Half the room in old files that are only touched: nothing is added.
def touched(amount):
    with open("old", "r+b") as file:
        file.write(b"2")
    disk(amount)


# All at once: each waits until this one ends.
def processes(amount):
    reader, writer = os.pipe()
    for i in range(amount):
        try:
            if os.fork() == 0:
                os.close(writer)
                os.read(reader, 1)
                os._exit(0)
        except OSError:
            print(i)
            sys.exit(3)
    time.sleep(0.5 + HOLD)


def spin(amount):
    end = time.monotonic() + amount
    while time.monotonic() < end:
        pass


def affinity(_):
    os.sched_setaffinity(0, range(os.cpu_count()))


globals()[sys.argv[1]](int(sys.argv[2]))
print("all")

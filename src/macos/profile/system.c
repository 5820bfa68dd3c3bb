/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a profile that no path of the policy decides: processes, what every program needs to start, terminals, the network,
 * and the services that stay closed. Names of services and controls are tables; what is not in them is denied. */
#include "macos/profile/internal.h"

#include <string.h>

/* More ports than this under network.local would each be a filter. */
enum { LOCAL_PORTS_MAX = 1024 };

/* (deny default) leaves these open in version 1. */
static const char still_open[] = "process-info* nvram* file-link file-clone";

/* Name service, time zone and user lookups, logging, notifications, file events. */
static const char *const services[] = {
	"com.apple.system.opendirectoryd.libinfo",
	"com.apple.system.opendirectoryd.membership",
	"com.apple.system.notification_center",
	"com.apple.system.logger",
	"com.apple.logd",
	"com.apple.diagnosticd",
	"com.apple.bsd.dirhelper",
	"com.apple.FSEvents",
	"com.apple.PowerManagement.control",
};
/* With `network: all`. */
static const char *const network_services[] = {
	"com.apple.SystemConfiguration.configd",
	"com.apple.SystemConfiguration.DNSConfiguration",
};
/* With any network, if macos.trustd asks for it: it does the work of an unsandboxed daemon. */
static const char trust_service[] = "com.apple.trustd.agent";

/* Denied by name, at the end, so that nothing above opens them by a slip. */
static const struct {
	const char *what;
	const char *const names[6];
} closed_services[] = {
	{ "the keychain", { "com.apple.SecurityServer", "com.apple.securityd", "com.apple.securityd.xpc", "com.apple.secd" } },
	{ "the pasteboard", { "com.apple.pasteboard.1", "com.apple.pboard" } },
	{ "preferences of other programs", { "com.apple.cfprefsd.agent", "com.apple.cfprefsd.daemon" } },
	{ "Apple events", { "com.apple.coreservices.appleevents", "com.apple.coreservices.quarantine-resolver" } },
	{ "starting programs outside",
	  { "com.apple.coreservices.launchservicesd", "com.apple.lsd.open", "com.apple.lsd.mapdb", "com.apple.xpc.smd",
	    "com.apple.CoreServices.coreservicesd" } },
	{ "the screen and the keyboard", { "com.apple.windowserver.active", "com.apple.tccd", "com.apple.tccd.system" } },
};
/* (deny default) covers these; a name that a version of the system does not know would make the whole profile invalid, so only those
 * that all of them have are written out. */
static const char closed_operations[] = "appleevent-send lsopen job-creation authorization-right-obtain mach-register";

static void add_names(struct text *out, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count && names[i]; i++)
		text_add(out, "\n  (global-name \"%s\")", names[i]);
}

void profile_write_process(struct profile_writer *writer)
{
	struct text *out = &writer->out;
	text_add(out, "; Left open by that line in version 1.\n(deny %s", still_open);
	profile_end_deny(writer);
	text_add(out, "\n; Processes: its own only.\n"
		      "(allow process-fork)\n"
		      "(allow signal (target same-sandbox))\n"
		      "(allow process-info* (target same-sandbox))\n"
		      "(allow mach-priv-task-port (target same-sandbox))\n"
		      "\n; What every program asks. Arguments and environment of processes are not for reading.\n"
		      "(allow sysctl-read)\n"
		      "(deny sysctl-read (sysctl-name-prefix \"kern.procargs\")");
	profile_end_deny(writer);
	text_add(out, "(allow ipc-posix-sem*)\n"
		      "(allow ipc-posix-shm* (require-not (ipc-posix-name-prefix \"apple.\")))\n"
		      "(allow ipc-posix-shm-read-data (ipc-posix-name \"apple.shm.notification_center\"))\n"
		      "(allow sysctl-write (sysctl-name \"kern.grade_cputype\") (sysctl-name \"kern.tcsm_enable\"))\n"
		      "(allow system-fsctl (fsctl-command FSIOC_CAS_BSDFLAGS))\n"
		      "(allow iokit-open (iokit-registry-entry-class \"RootDomainUserClient\"))\n"
		      "(allow system-socket (socket-domain AF_UNIX))\n"
		      "(allow mach-lookup");
	add_names(out, services, sizeof services / sizeof services[0]);
	text_add(out, ")\n");
}

static void write_terminals(struct profile_writer *writer)
{
	struct text *out = &writer->out;
	/* A pseudo-terminal that the command opens itself carries the extension; those of other windows do not. */
	text_add(out, "\n; Terminals: the command's own. No input is pushed into any of them (TIOCSTI).\n"
		      "(allow pseudo-tty)\n"
		      "(allow file-read* file-write* file-ioctl\n"
		      "  (require-all (prefix \"/dev/ttys\") (extension \"com.apple.sandbox.pty\")))\n");
	if (writer->run->terminal_count > 0) {
		text_add(out, "(allow file-read* file-write* file-ioctl");
		for (size_t i = 0; i < writer->run->terminal_count; i++) {
			text_add(out, "\n  ");
			profile_path(writer, "literal", writer->run->terminals[i]);
		}
		text_add(out, ")\n");
	}
	text_add(out, "(allow file-ioctl (prefix \"/dev/ttys\"))\n"
		      "(deny file-ioctl (ioctl-command (_IO \"t\" 114))");
	profile_end_deny(writer);
}

void profile_write_devices(struct profile_writer *writer)
{
	const struct plan_devices *devices = &writer->plan->devices;
	struct text *out = &writer->out;
	const struct platform_path *platform;
	const char *device;

	text_add(out, "\n; What every program needs to start. Names may be looked up everywhere, as under Landlock.\n"
		      "(allow file-read-metadata)\n(allow file-read*");
	for (size_t i = 0; (platform = plan_platform_at(i)); i++) {
		text_add(out, "\n  ");
		profile_path(writer, platform->is_tree ? "subpath" : "literal", platform->path);
	}
	text_add(out, ")\n\n; Devices.\n(allow file-read* file-write* file-ioctl");
	for (size_t i = 0; (device = device_basic_at(OS_MACOS, i)); i++) {
		text_add(out, "\n  ");
		profile_path(writer, strcmp(device, "/dev/fd") == 0 ? "subpath" : "literal", device);
	}
	text_add(out, ")\n");
	for (size_t i = 0; i < devices->count; i++) {
		profile_comment(writer, "", devices->items[i].rule);
		text_add(out, "(allow file-read* file-write* file-ioctl ");
		profile_path(writer, "literal", devices->items[i].path);
		text_add(out, ")\n");
	}
	write_terminals(writer);
}

/* Every name and address of loopback has to be allowed, because the kernel does not tell them apart. */
static bool is_local_allowed(const struct plan *plan, uint16_t port)
{
	return plan_check_connect(plan, "localhost", port).is_allowed &&
	       plan_check_connect(plan, "127.0.0.1", port).is_allowed && plan_check_connect(plan, "::1", port).is_allowed;
}

static int write_local(struct profile_writer *writer, struct error *err)
{
	const struct plan_ports *local = &writer->plan->network.local;
	size_t count = 0;
	for (size_t i = 0; i < local->count; i++) {
		profile_comment(writer, "", local->items[i].rule);
		for (unsigned port = local->items[i].low; port <= local->items[i].high; port++) {
			if (++count > LOCAL_PORTS_MAX) {
				error_set(err, "network.local names more than %d ports, which a profile cannot hold",
					  LOCAL_PORTS_MAX);
				return error_hint(err, "name fewer, or write `network: all`");
			}
			if (is_local_allowed(writer->plan, (uint16_t)port))
				text_add(&writer->out, "(allow network-outbound (remote ip \"localhost:%u\"))\n", port);
		}
	}
	return 0;
}

/* There is one loopback: a port is published by letting the command listen on it. */
static int write_publish(struct profile_writer *writer, struct error *err)
{
	const struct plan_published *publish = &writer->plan->network.publish;
	for (size_t i = 0; i < publish->count; i++) {
		const struct plan_publish *item = &publish->items[i];
		const char *special = address_special(&item->address);
		if (item->host_port != item->port) {
			error_set(err, "`%s`: on macOS a port is published under its own number", item->rule->text);
			return error_hint(err, "write publish: [%u], or let the command listen on %u", item->port,
					  item->host_port);
		}
		profile_comment(writer, "", item->rule);
		text_add(&writer->out, "(allow network-inbound (local tcp \"%s:%u\"))\n",
			 special && strcmp(special, "loopback") == 0 ? "localhost" : "*", item->port);
	}
	return 0;
}

static void write_proxy(struct profile_writer *writer)
{
	if (writer->run->proxy_port)
		text_add(&writer->out, "(allow network-outbound (remote tcp \"localhost:%u\"))\n", writer->run->proxy_port);
	else
		text_add(&writer->out, "(allow network-outbound (remote tcp (param \"%s\")))\n", PROFILE_PROXY);
}

static void write_all(struct profile_writer *writer)
{
	text_add(&writer->out, "(allow network-outbound (remote ip) (literal \"/private/var/run/mDNSResponder\"))\n"
			       "(allow network-inbound (local ip))\n"
			       "(allow system-socket)\n"
			       "(allow file-read* (literal \"/private/var/run/resolv.conf\"))\n"
			       "(allow mach-lookup");
	add_names(&writer->out, network_services, sizeof network_services / sizeof network_services[0]);
	text_add(&writer->out, ")\n");
}

int profile_write_network(struct profile_writer *writer, struct error *err)
{
	const struct plan *plan = writer->plan;
	text_add(&writer->out, "\n; The network.\n");
	profile_comment(writer, "", plan->network.rule);
	if (plan->network.mode == NETWORK_NONE) {
		text_add(&writer->out, "; nothing\n");
		return 0;
	}
	if (profile_needs_proxy(plan)) {
		text_add(&writer->out, "; Through berm's proxy, which judges every destination and resolves its name.\n");
		write_proxy(writer);
	} else {
		write_all(writer);
	}
	if (plan->policy->macos.trustd.is_set && plan->policy->macos.trustd.value) {
		profile_comment(writer, "", &plan->policy->macos.trustd.rule);
		text_add(&writer->out, "(allow mach-lookup (global-name \"%s\"))\n", trust_service);
	}
	return write_local(writer, err) < 0 ? -1 : write_publish(writer, err);
}

void profile_write_closed(struct profile_writer *writer)
{
	struct text *out = &writer->out;
	text_add(out, "\n; Closed, whatever stands above.\n(deny %s", closed_operations);
	profile_end_deny(writer);
	for (size_t i = 0; i < sizeof closed_services / sizeof closed_services[0]; i++) {
		text_add(out, "; %s\n(deny mach-lookup", closed_services[i].what);
		add_names(out, closed_services[i].names, sizeof closed_services[i].names / sizeof closed_services[i].names[0]);
		profile_end_deny(writer);
	}
}

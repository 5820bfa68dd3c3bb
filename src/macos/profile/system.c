/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a profile that do not depend on paths of the policy: processes, files that every
 * program needs, terminals, the network, and closed services. Tables name the allowed services and
 * sysctls; all others are denied. */
#include "macos/profile/internal.h"

#include <string.h>

/* Each port of network.local is one filter. */
enum { LOCAL_PORTS_MAX = 1024 };

/* (deny default) does not cover these in version 1. */
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
/* With `network: all`. trustd, an unsandboxed daemon, fetches certificates for the command: where
 * every destination is allowed that adds none. */
static const char *const network_services[] = {
	"com.apple.SystemConfiguration.configd",
	"com.apple.SystemConfiguration.DNSConfiguration",
	"com.apple.dnssd.service",
	"com.apple.networkd",
	"com.apple.trustd",
	"com.apple.trustd.agent",
};
/* With a list of destinations only if macos.trustd is set. */
static const char trust_service[] = "com.apple.trustd.agent";

/* Denied by name at the end, so that no rule above allows them by mistake. */
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
/* (deny default) covers these too. An operation that a macOS version does not know would invalidate
 * the whole profile, so the list has only operations that all versions know. */
static const char closed_operations[] = "appleevent-send lsopen job-creation authorization-right-obtain mach-register";

static void add_names(struct text *out, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count && names[i]; i++)
		text_add(out, "\n  (global-name \"%s\")", names[i]);
}

void profile_write_process(struct profile_writer *writer)
{
	struct text *out = &writer->out;
	text_add(out, "; Not covered by that line in version 1.\n(deny %s", still_open);
	profile_end_deny(writer);
	text_add(out, "\n; Processes: only those in this sandbox.\n"
		      "(allow process-fork)\n"
		      "(allow signal (target same-sandbox))\n"
		      "(allow process-info* (target same-sandbox))\n"
		      "(allow mach-priv-task-port (target same-sandbox))\n"
		      "\n; Needed by every program. Arguments and environment of other processes are unreadable.\n"
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
	/* Only a pseudo-terminal that the command opened has the extension. */
	text_add(out, "\n; Terminals: only the command's. TIOCSTI, which injects input, is denied.\n"
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
	const struct plan_items *devices = &writer->plan->devices;
	struct text *out = &writer->out;
	const struct platform_path *platform;
	const char *device;

	text_add(out, "\n; Files that every program needs to start. File metadata is readable everywhere.\n"
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
		profile_path(writer, "literal", devices->items[i].value);
		text_add(out, ")\n");
	}
	write_terminals(writer);
}

/* The kernel does not distinguish the names and addresses of the loopback: all must be allowed. */
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
				error_set(err, "network.local names more than %d ports, too many for a profile",
					  LOCAL_PORTS_MAX);
				return error_hint(err, "name fewer, or write `network: all`");
			}
			if (is_local_allowed(writer->plan, (uint16_t)port))
				text_add(&writer->out, "(allow network-outbound (remote ip \"localhost:%u\"))\n", port);
		}
	}
	return 0;
}

/* There is one loopback: a published port is a port that the command may listen on. */
static int write_publish(struct profile_writer *writer, struct error *err)
{
	const struct plan_published *publish = &writer->plan->network.publish;
	for (size_t i = 0; i < publish->count; i++) {
		const struct plan_publish *item = &publish->items[i];
		if (item->host_port != item->port) {
			error_set(err, "`%s`: macOS cannot publish a port under another number", item->rule->text);
			return error_hint(err, "write publish: [%u], or let the command listen on %u", item->port,
					  item->host_port);
		}
		profile_comment(writer, "", item->rule);
		/* Many servers bind every address, and the filter applies to the bound one. */
		text_add(&writer->out, "(allow network-inbound (local tcp \"*:%u\"))\n", item->port);
	}
	return 0;
}

static void write_proxy(struct profile_writer *writer)
{
	/* getaddrinfo sorts addresses with it. */
	text_add(&writer->out, "(allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))\n");
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
		text_add(&writer->out, "; Through berm's proxy, which checks every destination and resolves its name.\n");
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
	text_add(out, "\n; Denied in any case.\n(deny %s", closed_operations);
	profile_end_deny(writer);
	/* For a directory the kernel asks once, and copies all files below it without asking for
	 * any of them. Programs fall back to cloning or copying file by file. */
	text_add(out, "; A clone of a directory would contain its denied files.\n"
		      "(deny file-clone (vnode-type DIRECTORY)");
	profile_end_deny(writer);
	for (size_t i = 0; i < sizeof closed_services / sizeof closed_services[0]; i++) {
		text_add(out, "; %s\n(deny mach-lookup", closed_services[i].what);
		add_names(out, closed_services[i].names, sizeof closed_services[i].names / sizeof closed_services[i].names[0]);
		profile_end_deny(writer);
	}
}

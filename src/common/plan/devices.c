/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets and devices that the policy names. A socket is one file, never a directory of them; a device that reaches memory, disks,
 * input or the kernel is refused by name, whatever the policy says. */
#include "common/plan/build.h"

#include <string.h>
#include <strings.h>

#include "common/base/text.h"

/* What every command has. On Linux /dev/pts and /dev/shm are the command's own; on macOS terminals are judged by the kernel, one by
 * one, and have no row here. */
static const char *const macos_devices[] = { "/dev/null",   "/dev/zero",	 "/dev/random", "/dev/urandom",
					     "/dev/tty",    "/dev/ptmx",	 "/dev/stdin",	"/dev/stdout",
					     "/dev/stderr", "/dev/dtracehelper", "/dev/fd" };
static const char *const linux_devices[] = { "/dev/null",   "/dev/zero",   "/dev/full",	  "/dev/random", "/dev/urandom",
					     "/dev/tty",    "/dev/ptmx",   "/dev/pts",	  "/dev/fd",	 "/dev/stdin",
					     "/dev/stdout", "/dev/stderr", "/dev/console" };

/* Names below /dev, as patterns. */
static const char *const refused_devices[] = {
	"mem",	   "kmem",    "port",	     "kmsg",	    "fuse",	  "mapper",	 "mapper/*",  "input",	   "input/*",
	"uinput",  "uhid",    "sd*",	     "hd*",	    "vd*",	  "xvd*",	 "nvme*",     "mmcblk*",   "loop*",
	"dm-*",	   "md*",     "sr*",	     "sg*",	    "bsg/*",	  "disk/*",	 "block/*",   "zram*",	   "nbd*",
	"ram*",	   "btrfs-*", "vfio/*",	     "vhost-*",	    "kvm",	  "cpu/*",	 "tpm*",      "hidraw*",   "usb*",
	"bus/*",   "raw/*",   "mtd*",	     "vcs*",	    "snapshot",	  "userfaultfd", "watchdog*", "autofs",	   "net/*",
	"ppp",	   "rfkill",  "uio*",	     "mei*",	    "ipmi*",	  "tty[0-9]*",	 "ttyS*",     "disk*",	   "rdisk*",
	"hpet",	   "nvram",   "vga_arbiter", "udmabuf",	    "dma_heap/*", "rtc*",	 "ptp*",      "log",	   "char/*",
	"initctl", "shm/*",   "mqueue/*",    "hugepages/*", "bpf",	  "auto*",	 "pf",	      "bpf[0-9]*", "oslog*",
};

static const char *const gpu_nodes[] = { "/dev/nvidiactl", "/dev/nvidia-modeset", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools",
					 "/dev/kfd" };
static const struct {
	const char *prefix;
	unsigned first;
} gpu_numbered[] = { { "/dev/dri/card", 0 }, { "/dev/dri/renderD", 128 }, { "/dev/nvidia", 0 } };
enum { GPU_MAX = 16 };

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

const char *device_basic_at(enum operating_system os, size_t index)
{
	if (os == OS_MACOS)
		return index < COUNT(macos_devices) ? macos_devices[index] : NULL;
	return index < COUNT(linux_devices) ? linux_devices[index] : NULL;
}

bool device_is_basic(enum operating_system os, const char *path)
{
	const char *device;
	for (size_t i = 0; (device = device_basic_at(os, i)); i++)
		if (os == OS_MACOS ? strcasecmp(path, device) == 0 : strcmp(path, device) == 0)
			return true;
	if (os == OS_MACOS)
		return strncasecmp(path, "/dev/fd/", strlen("/dev/fd/")) == 0;
	return path_is_within(path, "/dev/pts") || path_is_within(path, "/dev/fd");
}

static void add_device(struct builder *builder, const char *path, const struct rule *rule)
{
	struct plan_devices *devices = &builder->plan->devices;
	struct plan_device *device;
	for (size_t i = 0; i < devices->count; i++)
		if (strcmp(devices->items[i].path, path) == 0)
			return;
	device = arena_push(builder->plan->arena, devices);
	device->path = path;
	device->rule = rule;
}

static void add_gpu_node(struct builder *builder, const char *path, const struct rule *rule)
{
	const struct filesystem *fs = builder->plan->context.fs;
	struct file_info info;
	if (fs->inspect(fs, path, &info) == 0 && info.type == FILE_DEVICE)
		add_device(builder, path, rule);
}

static void add_gpu(struct builder *builder, const struct rule *rule)
{
	struct arena *arena = builder->plan->arena;
	size_t before = builder->plan->devices.count;
	for (size_t i = 0; i < sizeof gpu_nodes / sizeof gpu_nodes[0]; i++)
		add_gpu_node(builder, gpu_nodes[i], rule);
	for (size_t i = 0; i < sizeof gpu_numbered / sizeof gpu_numbered[0]; i++)
		for (unsigned k = 0; k < GPU_MAX; k++)
			add_gpu_node(builder, arena_printf(arena, "%s%u", gpu_numbered[i].prefix, gpu_numbered[i].first + k),
				     rule);
	if (builder->plan->devices.count == before)
		build_note(builder, NOTE_MISSING, rule, "there is no graphics device here");
}

static bool is_refused(const char *path)
{
	const char *name = path + strlen("/dev/");
	for (size_t i = 0; i < sizeof refused_devices / sizeof refused_devices[0]; i++)
		if (pattern_matches_name(refused_devices[i], name))
			return true;
	return false;
}

/* The node itself and what it resolves to are both judged: /dev/root may be a link to a disk. */
static void add_named_device(struct builder *builder, const struct rule *rule)
{
	struct plan *plan = builder->plan;
	struct file_info info;
	struct error err;
	const char *path;

	if (path_resolve(plan->context.fs, plan->arena, path_absolute(plan->arena, "/dev", rule->text), &path, NULL, &info,
			 &err) < 0) {
		build_error(builder, rule, NULL, "%s", err.message);
		return;
	}
	if (!text_starts_with(path, "/dev/") || is_refused(path) ||
	    (text_starts_with(rule->text, "/dev/") && is_refused(rule->text))) {
		build_error(builder, rule, NULL, "`%s` cannot be granted: it reaches more than a device may", rule->text);
		return;
	}
	if (info.type == FILE_ABSENT)
		build_note(builder, NOTE_MISSING, rule, "%s is not there", path);
	else if (info.type != FILE_DEVICE)
		build_error(builder, rule, NULL, "`%s` is not a device", rule->text);
	else if (!device_is_basic(plan->context.os, path))
		add_device(builder, path, rule);
}

void build_devices(struct builder *builder)
{
	const struct rules *rules = &builder->plan->policy->devices;
	for (size_t i = 0; i < rules->count; i++) {
		if (strcmp(rules->items[i].text, "gpu") == 0)
			add_gpu(builder, &rules->items[i]);
		else
			add_named_device(builder, &rules->items[i]);
	}
}

static void add_socket(struct builder *builder, const struct rule *rule)
{
	struct plan *plan = builder->plan;
	struct path_links links;
	struct plan_socket *socket;
	struct file_info info;
	const char *path = build_resolve(builder, rule, &links, &info);

	if (!path)
		return;
	if (build_refuses_link(builder, rule, &links, path))
		return;
	if (info.type == FILE_ABSENT || info.type == FILE_UNKNOWN) {
		build_note(builder, NOTE_MISSING, rule, "%s is not there", path);
		return;
	}
	if (info.type != FILE_SOCKET) {
		build_error(builder, rule, "a directory of sockets cannot be granted: name each socket",
			    "`%s`: %s is not a socket", rule->text, path);
		return;
	}
	if (plan_denied_by(plan, path, false)) {
		build_note(builder, NOTE_OTHER, rule, "%s stays hidden: `%s` denies it", path,
			   plan_denied_by(plan, path, false)->text);
		return;
	}
	for (size_t i = 0; i < plan->sockets.count; i++)
		if (strcmp(plan->sockets.items[i].path, path) == 0)
			return;
	socket = arena_push(plan->arena, &plan->sockets);
	socket->path = path;
	socket->rule = rule;
}

void build_sockets(struct builder *builder)
{
	const struct rules *rules = &builder->plan->policy->sockets;
	for (size_t i = 0; i < rules->count; i++)
		add_socket(builder, &rules->items[i]);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets and devices that the policy names, and the devices that every command gets. A socket is
 * granted as one file, never as a directory. A device that reaches memory, disks, input or the
 * kernel is refused by name, whatever the policy grants. */
#include "common/plan/build.h"

#include <string.h>
#include <strings.h>

#include "common/base/text.h"

/* Devices that every command gets. On macOS the kernel checks each terminal by itself, so terminals
 * have no row. */
static const char *const macos_devices[] = { "/dev/null",   "/dev/zero",	 "/dev/random", "/dev/urandom",
					     "/dev/tty",    "/dev/ptmx",	 "/dev/stdin",	"/dev/stdout",
					     "/dev/stderr", "/dev/dtracehelper", "/dev/fd" };
/* Nodes of the host's /dev; the view mounts them, Landlock grants them. */
static const char *const linux_nodes[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty" };
/* Made for the command: symlinks, a private devpts, and the terminal under another name. */
static const char *const linux_made[] = { "/dev/ptmx",	 "/dev/pts",	"/dev/fd",     "/dev/stdin",
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
	if (index < COUNT(linux_nodes))
		return linux_nodes[index];
	index -= COUNT(linux_nodes);
	return index < COUNT(linux_made) ? linux_made[index] : NULL;
}

const char *device_node_at(size_t index)
{
	return index < COUNT(linux_nodes) ? linux_nodes[index] : NULL;
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

static void add_gpu_node(struct builder *builder, const char *path, const struct rule *rule)
{
	const struct filesystem *fs = builder->plan->context.fs;
	struct file_info info;
	if (fs->inspect(fs, path, &info) == 0 && info.type == FILE_DEVICE)
		build_item(builder, &builder->plan->devices, path, rule);
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
		build_note(builder, NOTE_MISSING, rule, "this machine has no graphics device");
}

static bool is_refused(const char *path)
{
	const char *name = path + strlen("/dev/");
	for (size_t i = 0; i < sizeof refused_devices / sizeof refused_devices[0]; i++)
		if (pattern_matches_name(refused_devices[i], name))
			return true;
	return false;
}

/* Checks the name and the node that it resolves to: /dev/root may be a link to a disk. */
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
		build_error(builder, rule, NULL, "`%s` cannot be granted: it gives access beyond the sandbox", rule->text);
		return;
	}
	if (info.type == FILE_ABSENT)
		build_note(builder, NOTE_MISSING, rule, "%s does not exist", path);
	else if (info.type != FILE_DEVICE)
		build_error(builder, rule, NULL, "`%s` is not a device", rule->text);
	else if (!device_is_basic(plan->context.os, path))
		build_item(builder, &plan->devices, path, rule);
}

void resolve_devices(struct builder *builder, const struct rule *rule)
{
	if (strcmp(rule->text, "gpu") == 0)
		add_gpu(builder, rule);
	else
		add_named_device(builder, rule);
}

void resolve_sockets(struct builder *builder, const struct rule *rule)
{
	struct plan *plan = builder->plan;
	struct path_links links;
	struct file_info info;
	const char *path = build_resolve(builder, rule, &links, &info);

	if (!path)
		return;
	if (build_refuses_link(builder, rule, &links, path))
		return;
	if (info.type == FILE_ABSENT || info.type == FILE_UNKNOWN) {
		build_note(builder, NOTE_MISSING, rule, "%s does not exist", path);
		return;
	}
	if (info.type != FILE_SOCKET) {
		build_error(builder, rule, "a directory of sockets cannot be granted: name each socket",
			    "`%s`: %s is not a socket", rule->text, path);
		return;
	}
	if (plan_denied_by(plan, path, false)) {
		build_note(builder, NOTE_DENIED, rule, "%s stays hidden: `%s` denies it", path,
			   plan_denied_by(plan, path, false)->text);
		return;
	}
	build_item(builder, &plan->sockets, path, rule);
}

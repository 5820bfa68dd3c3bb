/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on the kernel's surface. The arguments of every call are harmless on a host without berm
 * (attack_kernel.c). */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void mounts(struct trial *trial)
{
	char *before = mounts_now(&trial->world);
	CONTAIN(trial, "mount-calls");
	CONTAIN(trial, "mounts", ".env", "src");
	expect(trial, strcmp(before, mounts_now(&trial->world)) == 0, "the host's mounts changed");
}

static void nested_mount(struct trial *trial)
{
	char *before = mounts_now(&trial->world);
	make_file(path_of("%s/policy.yml", trial->world.base), "version: 1\nnesting: true\n", 0600);
	BARE(trial, "$ATTACK", "nested-mount", "$PROJECT/src");
	expect(trial, strstr(trial->outcome.out, "REACHED") != NULL, "control: no mount in a namespace of its own");
	trial_option(trial, "--policy=$BASE/policy.yml");
	INSIDE(trial, "$ATTACK", "nested-mount", "$PROJECT/src");
	expect(trial, strstr(trial->outcome.out, "END") != NULL || trial->outcome.exit_code == 125,
	       "did not finish (%d): %.200s", trial->outcome.exit_code, trial->outcome.err);
	expect(trial, strcmp(before, mounts_now(&trial->world)) == 0, "the host's mounts changed");
	expect(trial, access(path_of("%s/src/nested", trial->world.project), F_OK) != 0, "a file of the mount is on the host");
	/* Nesting gives namespaces, not a way around a mask. */
	INSIDE(trial, "$ATTACK", "mounts", ".env", "src");
	expect(trial, !strstr(trial->outcome.out, "REACHED uncover"), "the mask can be taken off in a namespace of its own");
}

static void devices(struct trial *trial)
{
	CONTAIN(trial, "open", "/dev/mem", "/dev/vda", "/dev/sda", "/dev/kmsg", "/dev/fuse", "/dev/kvm", "/dev/loop-control",
		"/dev/input/event0", "/dev/zram0", "/dev/userfaultfd");
	CONTAIN(trial, "mknod", "node");
	expect(trial, access(path_of("%s/node", trial->world.project), F_OK) != 0, "a device node is on the host");
}

static void device_in_project(struct trial *trial)
{
	if (mknod(path_of("%s/disk", trial->world.project), S_IFCHR | 0666, 0x10b /* 1:11, the kernel log */) ||
	    mknod(path_of("%s/null", trial->world.project), S_IFCHR | 0666, 0x103))
		die("mknod");
}

static void set_user_id(struct trial *trial)
{
	struct stat info;
	char *program = path_of("%s/setuid-attack", trial->world.project), *left = path_of("%s/left", trial->world.project);
	CONTAIN(trial, "powers");
	trial_renew(trial);
	/* Another owner, so that the bit would matter. */
	copy_file(attack_path, program, 0755);
	if (geteuid() == 0) {
		if (chown(program, 65534, 65534) || chmod(program, 04755))
			die("chown %s", program);
		BARE(trial, program, "setuid");
		expect(trial, strstr(trial->outcome.out, "REACHED setuid-gain") != NULL, "control: the bit has no effect");
		INSIDE(trial, program, "setuid");
		expect(trial, !strstr(trial->outcome.out, "REACHED"), "the bit has an effect inside");
	}
	BARE(trial, "$ATTACK", "leave-setuid", "$ATTACK", "left");
	expect(trial, stat(left, &info) == 0 && (info.st_mode & S_ISUID), "control: the bit cannot be set");
	unlink(left);
	unlink(path_of("%s.born", left));
	INSIDE(trial, "$ATTACK", "leave-setuid", "$ATTACK", "left");
	expect(trial, strstr(trial->outcome.out, "END") != NULL, "did not finish");
	expect(trial, stat(left, &info) != 0 || !(info.st_mode & (S_ISUID | S_ISGID)),
	       "a set-user-ID program of uid %u is on the host", info.st_uid);
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "a set-user-ID file with content is on the host:\n%s",
	       trial->outcome.out);
}

const struct escape_case cases_kernel[] = {
	{ 46, "open_by_handle_at", NEED_ROOT, NULL, { "handle", ".env", "src/main.c" }, NULL, NULL, 0 },
	{ 47, "mount, remount, umount and the new mount calls", 0, NULL, { NULL }, NULL, mounts, 0 },
	{ 48, "a mount made inside, with nesting", 0, NULL, { NULL }, NULL, nested_mount, 0 },
	{ 49, "mknod and the host's devices", NEED_ROOT, NULL, { NULL }, NULL, devices, 0 },
	{ 50, "set-user-ID programs: no gain, none left behind", 0, NULL, { NULL }, NULL, set_user_id, 0 },
	{ 61, "io_uring", 0, NULL, { "uring" }, NULL, NULL, 0 },
	{ 62, "int 0x80 and x32 numbers", 0, NULL, { "foreign" }, NULL, NULL, 0 },
	{ 63, "i386 socketcall", 0, NULL, { "socketcall" }, NULL, NULL, 0 },
	{ 64, "bpf, perf, userfaultfd, kexec, modules", 0, NULL, { "forbidden" }, NULL, NULL, 0 },
	{ 65, "keyctl, add_key, request_key", 0, NULL, { "keys" }, NULL, NULL, 0 },
	{ 66, "unshare, clone and clone3 with namespace flags", 0, NULL, { "namespaces" }, NULL, NULL, 0 },
	{ 67, "setns, pivot_root, chroot", 0, NULL, { "roots" }, NULL, NULL, 0 },
	{ 68, "personality", 0, NULL, { "personality" }, NULL, NULL, 0 },
	{ 69, "a program in memory has the same wall", 0, NULL, { "indirect-exec", "$ATTACK", ".env" }, NULL, NULL, 0 },
	{ 70, "junk in the high words of filtered arguments", 0, NULL, { "families-high" }, NULL, NULL, 0 },
	{ 75, "netlink changes, VSOCK, ALG, Bluetooth and the like", 0, NULL, { "families" }, NULL, NULL, 0 },
	{ 124, "changes of the network by netlink", 0, NULL, { "netlink-change" }, NULL, NULL, 0 },
	{ 125, "clocks, swap, accounting, kernel log", 0, NULL, { "administrative" }, NULL, NULL, 0 },
	{ 126, "a device node that lies in the project", NEED_ROOT, device_in_project, { "open", "disk" }, NULL, NULL, 0 },
	{ 154,
	  "mode and owner of the host's device nodes",
	  NEED_ROOT,
	  NULL,
	  { "metadata-same", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty" },
	  NULL,
	  NULL,
	  0 },
	{ 0 },
};

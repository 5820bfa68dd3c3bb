/* SPDX-License-Identifier: Apache-2.0 */
/* Mounts by descriptor, in a new user and mount namespace. */
#include <greatest.h>

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linux/syscalls.h"
#include "linux/view/mount.h"
#include "unit/support/scratch.h"

TEST opens_without_following_any_symlink(void)
{
	const char *link = scratch_path("link"), *through = scratch_path("link/file"), *plain = scratch_path("real/file");
	int fd;
	mkdir(scratch_path("real"), 0700);
	scratch_write(plain, "x", 1, 0600);
	ASSERT_EQ(0, symlink("real", link));
	fd = mount_open(AT_FDCWD, plain);
	ASSERT(fd >= 0);
	ASSERT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	ASSERT_EQ(-1, read(fd, &fd, 1)); /* O_PATH does not read */
	ASSERT_EQ(-1, mount_open(AT_FDCWD, through));
	ASSERT_EQ(ELOOP, errno);
	ASSERT_EQ(-1, mount_open(AT_FDCWD, link));
	ASSERT_EQ(ELOOP, errno);
	ASSERT_EQ(-1, mount_open(AT_FDCWD, scratch_path("absent")));
	ASSERT_EQ(ENOENT, errno);
	PASS();
}

TEST takes_paths_below_its_root(void)
{
	struct stat root_info, info;
	int root = open(scratch_directory(), O_PATH | O_DIRECTORY | O_CLOEXEC), fd;
	mkdir(scratch_path("below"), 0700);
	scratch_write(scratch_path("below/file"), "x", 1, 0600);
	fd = mount_open(root, "/below/file");
	ASSERT(fd >= 0);
	ASSERT_EQ(0, fstat(fd, &info));
	ASSERT(S_ISREG(info.st_mode));
	close(fd);
	fd = mount_open(root, "/");
	ASSERT(fd >= 0);
	ASSERT_EQ(0, fstat(fd, &info));
	ASSERT_EQ(0, fstat(root, &root_info));
	ASSERT_EQ(root_info.st_ino, info.st_ino);
	close(fd);
	close(root);
	PASS();
}

static int writes(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	close(fd);
	unlink(path);
	return 0;
}

static int mount_trees(void *data)
{
	const char *source = scratch_path("source"), *target = scratch_path("target");
	int from, to, tree;
	(void)data;
	mkdir(source, 0700);
	mkdir(target, 0700);
	scratch_write(scratch_path("source/here"), "x", 1, 0600);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return 77;
	EXPECT(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	from = mount_open(AT_FDCWD, source);
	to = mount_open(AT_FDCWD, target);
	tree = mount_clone(from, true);
	EXPECT(from >= 0 && to >= 0 && tree >= 0);
	EXPECT(mount_set(tree, ATTR_RDONLY, true) == 0);
	EXPECT(mount_attach(tree, to) == 0);
	EXPECT(access(scratch_path("target/here"), F_OK) == 0);
	EXPECT(writes(scratch_path("target/new")) == EROFS);
	EXPECT(writes(scratch_path("source/new")) == 0); /* only the copy is read-only */
	return 0;
}

TEST attaches_a_copy_with_rights_of_its_own(void)
{
	int status = scratch_child(mount_trees, NULL);
	if (status == 77)
		SKIPm("this host refuses user namespaces");
	ASSERT_EQ(0, status);
	ASSERT_EQ(-1, access(scratch_path("target/here"), F_OK)); /* nothing of it is visible outside */
	PASS();
}

static int new_tree(void *data)
{
	const char *target = scratch_path("fresh");
	struct stat info;
	char name[300];
	int to, tree;
	(void)data;
	mkdir(target, 0700);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return 77;
	EXPECT(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	to = mount_open(AT_FDCWD, target);
	tree = mount_new("tmpfs", "mode=711,size=64k", ATTR_NOSUID | ATTR_NODEV);
	EXPECT(to >= 0 && tree >= 0 && (fcntl(tree, F_GETFD) & FD_CLOEXEC));
	EXPECT(mount_attach(tree, to) == 0);
	EXPECT(stat(target, &info) == 0 && (info.st_mode & 07777) == 0711);
	EXPECT(mount_new("tmpfs", "nonsense=1", 0) < 0);
	EXPECT(mount_new("nosuchfs", "", 0) < 0);
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	EXPECT(mount_new("tmpfs", name, 0) < 0 && errno == E2BIG);
	return 0;
}

TEST makes_a_file_system_with_options(void)
{
	int status = scratch_child(new_tree, NULL);
	if (status == 77)
		SKIPm("this host refuses user namespaces");
	ASSERT_EQ(0, status);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(opens_without_following_any_symlink);
	RUN_TEST(takes_paths_below_its_root);
	RUN_TEST(attaches_a_copy_with_rights_of_its_own);
	RUN_TEST(makes_a_file_system_with_options);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The argument checks that filter_table.c refers to. */
#ifndef BERM_LINUX_CONFINE_FILTER_CHECKS_H
#define BERM_LINUX_CONFINE_FILTER_CHECKS_H

#include "linux/confine/filter.h"

extern const struct filter_rule filter_check_ioctl[], filter_check_socket[], filter_check_socketpair[];
extern const struct filter_rule filter_check_setpriority[], filter_check_ioprio_set[];
extern const struct filter_rule filter_check_setrlimit[], filter_check_prlimit[];
extern const struct filter_rule filter_check_clone[], filter_check_unshare[], filter_check_personality[];
extern const struct filter_rule filter_check_mode_1[], filter_check_mode_2[]; /* chmod: the mode is argument 1 or 2 */
extern const struct filter_rule filter_check_node_1[], filter_check_node_2[]; /* mknod: likewise */
extern const struct filter_rule filter_check_send_2[], filter_check_send_3[]; /* flags of sendmsg; of sendto and sendmmsg */
extern const struct filter_rule filter_check_setsockopt[], filter_check_seccomp[];
/* With has_create_notify: */
extern const struct filter_rule filter_check_node_notify_1[], filter_check_node_notify_2[];
extern const struct filter_rule filter_check_setrlimit_notify[], filter_check_prlimit_notify[];
extern const struct filter_rule filter_check_open_1[], filter_check_open_2[]; /* the flags are argument 1 or 2 */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/launch/scan_results.h"

#include <errno.h>
#include <limits.h>

#include "common/base/text.h"
#include "common/cache/plan_codec.h"
#include "linux/channel.h"

int scan_results_send(int channel, const struct scan_results *results)
{
	struct message message = { .type = MESSAGE_SCAN_RESULTS };
	struct text bytes = { 0 };
	int status = -1;
	scan_results_encode(results, &bytes);
	errno = EMSGSIZE;
	if (bytes.length <= INT_MAX) {
		message.value = (int)bytes.length;
		status = channel_send(channel, &message);
	}
	if (status == 0)
		status = channel_send_bytes(channel, bytes.data, bytes.length);
	text_free(&bytes);
	return status;
}

int scan_results_receive(int channel, struct arena *arena, struct scan_results *results, struct error *err)
{
	struct message message;
	char *bytes;
	if (channel_receive(channel, &message) <= 0 || message.type != MESSAGE_SCAN_RESULTS || message.value <= 0)
		return error_set(err, "the launcher exited");
	bytes = arena_alloc(arena, (size_t)message.value);
	if (channel_receive_bytes(channel, bytes, (size_t)message.value) < 0)
		return error_set(err, "the launcher exited");
	if (!scan_results_decode(arena, bytes, (size_t)message.value, results))
		return error_set(err, "the launcher's scan results arrived damaged");
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One row per protocol. The bodies of hosts are searched for words, not parsed: a model does not
 * need to know more than whether it is asked with a shell tool, and whether that has answered. */
#include "common/prove/model.h"

#include <stdio.h>
#include <string.h>

static const char stream_type[] = "text/event-stream", json_type[] = "application/json";

bool model_has_result(const char *body)
{
	static const char *const words[] = { "\"tool_result\"", "_call_output\"", "\"functionResponse\"", "\"role\":\"tool\"",
					     "\"role\": \"tool\"" };
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strstr(body, words[i]))
			return true;
	return false;
}

/* Returns the shell tool that the request offers, or NULL. */
static const char *find_tool(const char *body)
{
	static const char *const names[] = { "Bash", "exec_command", "shell_command", "run_shell_command", "bash" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char quoted[64];
		snprintf(quoted, sizeof quoted, "\"%s\"", names[i]);
		if (strstr(body, quoted))
			return names[i];
	}
	return NULL;
}

/* Adds the arguments of the shell tool as JSON. */
static void add_arguments(struct text *out, const char *tool, const char *command)
{
	text_add(out, strcmp(tool, "exec_command") == 0 ? "{\"cmd\": " : "{\"description\": \"proof\", \"command\": ");
	text_add_json(out, command);
	text_add(out, "}");
}

/* The same as a JSON string that contains the JSON. */
static void add_quoted_arguments(struct text *out, const char *tool, const char *command)
{
	struct text arguments = { 0 };
	add_arguments(&arguments, tool, command);
	text_add_json(out, arguments.data);
	text_free(&arguments);
}

static const char *answer_messages(const char *body, const char *tool, const char *command, struct text *out)
{
	if (!strstr(body, "\"stream\":true") && !strstr(body, "\"stream\": true")) {
		text_add(
			out,
			"{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[{\"type\":"
			"\"text\","
			"\"text\":\"done\"}],\"stop_reason\":\"end_turn\",\"stop_sequence\":null,\"usage\":{\"input_tokens\":1,"
			"\"output_tokens\":1}}");
		return json_type;
	}
	text_add(out, "event: message_start\ndata: "
		      "{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":"
		      "\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{"
		      "\"input_tokens\":1,\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":"
		      "\"content_block_start\",\"index\":0,\"content_block\":");
	if (tool)
		text_add(out, "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"%s\",\"input\":{}}", tool);
	else
		text_add(out, "{\"type\":\"text\",\"text\":\"\"}");
	text_add(out, "}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":");
	if (tool) {
		text_add(out, "{\"type\":\"input_json_delta\",\"partial_json\":");
		add_quoted_arguments(out, tool, command);
		text_add(out, "}");
	} else
		text_add(out, "{\"type\":\"text_delta\",\"text\":\"done\"}");
	text_add(out,
		 "}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_delta\n"
		 "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"%s\",\"stop_sequence\":null},\"usage\":{"
		 "\"output_tokens\":1}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		 tool ? "tool_use" : "end_turn");
	return stream_type;
}

static const char *answer_responses(const char *body, const char *tool, const char *command, struct text *out)
{
	struct text item = { 0 };
	(void)body;
	if (tool) {
		text_add(&item,
			 "{\"type\":\"function_call\",\"id\":\"f1\",\"call_id\":\"c1\",\"name\":\"%s\",\"arguments\":", tool);
		add_quoted_arguments(&item, tool, command);
		text_add(&item, "}");
	} else
		text_add(&item,
			 "{\"type\":\"message\",\"role\":\"assistant\",\"id\":\"m1\",\"content\":[{\"type\":\"output_text\","
			 "\"text\":\"done\"}]}");
	text_add(out,
		 "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r1\"}}\n\nevent: "
		 "response.output_item.done\ndata: "
		 "{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":%s}\n\nevent: "
		 "response.completed\ndata: "
		 "{\"type\":\"response.completed\",\"response\":{\"id\":\"r1\",\"object\":\"response\","
		 "\"status\":\"completed\",\"output\":[%s],\"usage\":{\"input_tokens\":1,\"input_tokens_details\":null,"
		 "\"output_tokens\":1,\"output_tokens_details\":null,\"total_tokens\":2}}}\n\n",
		 item.data, item.data);
	text_free(&item);
	return stream_type;
}

static const char *answer_chat(const char *body, const char *tool, const char *command, struct text *out)
{
	static const char head[] = "\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\"";

	if (!strstr(body, "\"stream\":true") && !strstr(body, "\"stream\": true")) {
		text_add(out,
			 "{\"id\":\"x\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,"
			 "\"message\":{\"role\":\"assistant\",\"content\":\"done\"},\"finish_reason\":\"stop\"}]}");
		return json_type;
	}
	text_add(out, "data: {%s,\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",", head);
	if (tool) {
		text_add(out,
			 "\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"%s\","
			 "\"arguments\":",
			 tool);
		add_quoted_arguments(out, tool, command);
		text_add(out, "}}]");
	} else
		text_add(out, "\"content\":\"done\"");
	text_add(out,
		 "},\"finish_reason\":null}]}\n\ndata: "
		 "{%s,\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"%s\"}]}\n\n"
		 "data: [DONE]\n\n",
		 head, tool ? "tool_calls" : "stop");
	return stream_type;
}

static void add_candidates(struct text *out, const char *body, const char *tool, const char *command)
{
	text_add(out, "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[");
	/* Gemini CLI asks for decisions about the conversation in JSON. */
	if (strstr(body, "\"responseMimeType\":\"application/json\""))
		text_add(out, "{\"text\":\"{\\\"reasoning\\\":\\\"\\\",\\\"next_speaker\\\":\\\"user\\\",\\\"model_choice\\\":"
			      "\\\"flash\\\"}\"}");
	else if (tool) {
		text_add(out, "{\"functionCall\":{\"name\":\"%s\",\"args\":", tool);
		add_arguments(out, tool, command);
		text_add(out, "}}");
	} else
		text_add(out, "{\"text\":\"done\"}");
	text_add(out, "]},\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":1,"
		      "\"candidatesTokenCount\":1,"
		      "\"totalTokenCount\":2}}");
}

static const char *answer_generate(const char *body, const char *tool, const char *command, struct text *out)
{
	add_candidates(out, body, tool, command);
	return json_type;
}

static const char *answer_stream_generate(const char *body, const char *tool, const char *command, struct text *out)
{
	text_add(out, "data: ");
	add_candidates(out, body, tool, command);
	text_add(out, "\n\n");
	return stream_type;
}

const char *model_answer(const char *path, const char *body, const char *command, struct text *out)
{
	static const struct {
		const char *end; /* of the path, without the query */
		const char *(*answer)(const char *body, const char *tool, const char *command, struct text *out);
	} rows[] = {
		{ "/messages", answer_messages },	 { "/responses", answer_responses },
		{ "/chat/completions", answer_chat },	 { ":streamGenerateContent", answer_stream_generate },
		{ ":generateContent", answer_generate },
	};
	const char *tool = model_has_result(body) ? NULL : find_tool(body);

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (text_ends_with(path, rows[i].end))
			return rows[i].answer(body, tool, command, out);
	text_add(out, "{\"data\":[],\"models\":[],\"totalTokens\":1,\"input_tokens\":1}");
	return json_type;
}

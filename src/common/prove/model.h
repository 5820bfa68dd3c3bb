/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of a model that asks for one shell command and then ends: Anthropic Messages, OpenAI
 * Responses and Chat Completions, Gemini generateContent. Text in, text out. Internal to
 * prove.h. */
#ifndef BERM_COMMON_PROVE_MODEL_H
#define BERM_COMMON_PROVE_MODEL_H

#include <stdbool.h>

#include "common/base/text.h"

/* Adds the answer to a POST with this path and body, and returns its content type. */
const char *model_answer(const char *path, const char *body, const char *command, struct text *out);
/* True if the body contains the result of a tool. */
bool model_has_result(const char *body);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.json: what a run is, as JSON that people can read (docs/run-layout.md). */
#include <jansson.h>
#include <stdlib.h>

#include "session/parts.h"

static const char *const state_names[] = {
	[SESSION_RECORDING] = "recording",
	[SESSION_COMPLETE] = "complete",
	[SESSION_PARTIAL] = "partial",
	[SESSION_FAILED] = "failed",
};

const char *session_state_name(enum session_state s)
{
	return state_names[s];
}

/* Text that is not UTF-8 becomes {"hex": "..."}: nothing is lost and the file stays JSON. */
static json_t *text_to_json(const char *s, size_t len)
{
	json_t *v = json_stringn(s, len);
	struct buf hex = { 0 };

	if (v)
		return v;
	for (size_t i = 0; i < len; i++)
		buf_printf(&hex, "%02x", (unsigned char)s[i]);
	v = json_pack("{s:s}", "hex", buf_str(&hex));
	buf_done(&hex);
	return v;
}

static void text_from_json(const json_t *v, struct buf *out)
{
	const char *hex = json_string_value(json_object_get(v, "hex"));
	size_t len = hex ? strlen(hex) / 2 : 0;
	buf_auto bytes = { 0 };

	if (json_is_string(v))
		buf_add(out, json_string_value(v), json_string_length(v));
	/* Digits that somebody edited into something else are lost, not guessed. */
	if (hex && str_hex_bytes(str_of(hex), buf_room(&bytes, len), len))
		buf_add(out, bytes.at, len);
}

/* Key-value text as an object; a key that comes again makes its value an array. */
static json_t *kv_to_json(const struct buf *text)
{
	json_t *o = json_object();
	struct kv kv;

	kv_parse(&kv, (struct str){ (const char *)text->at, text->len });
	vec_each(item, &kv.items) {
		json_t *v = text_to_json(item->value, item->value_len);
		json_t *have = json_object_get(o, item->key);

		if (!have) {
			json_object_set_new(o, item->key, v);
		} else if (json_is_array(have)) {
			json_array_append_new(have, v);
		} else {
			json_t *list = json_pack("[O]", have);

			json_array_append_new(list, v);
			json_object_set_new(o, item->key, list);
		}
	}
	kv_done(&kv);
	return o;
}

static void kv_put_json(struct buf *out, const char *key, const json_t *v)
{
	buf_auto text = { 0 };

	text_from_json(v, &text);
	kv_put_n(out, key, (struct str){ buf_str(&text), text.len });
}

static void kv_from_json(json_t *o, struct buf *out)
{
	const char *key;
	json_t *v, *item;
	size_t i;

	buf_clear(out);
	json_object_foreach(o, key, v)
	{
		if (json_is_array(v)) {
			json_array_foreach(v, i, item) kv_put_json(out, key, item);
		} else {
			kv_put_json(out, key, v);
		}
	}
}

static const struct section {
	const char *name;
	size_t offset;
} sections[] = {
	{ "options", offsetof(struct session, options) },
	{ "target", offsetof(struct session, target) },
	{ "finished", offsetof(struct session, finished) },
	{ "notes", offsetof(struct session, notes) },
	{ "stages_ns", offsetof(struct session, stages) },
	{ "missing_images", offsetof(struct session, missing_images) },
};

static struct buf *section_of(struct session *s, const struct section *which)
{
	return (struct buf *)(void *)((char *)s + which->offset);
}

bool session_save(struct session *s, struct err *err)
{
	char_auto path = mem_printf("%s/manifest.json", s->dir);
	json_t *root = json_object(), *argv = json_array();
	char_auto text = NULL;

	json_object_set_new(root, "format", json_integer(SESSION_FORMAT));
	json_object_set_new(root, "recipe", json_string(s->recipe));
	json_object_set_new(root, "state", json_string(state_names[s->state]));
	json_object_set_new(root, "state_why", text_to_json(s->state_why, strlen(s->state_why)));
	json_object_set_new(root, "created_realtime_ns",
			    json_integer((json_int_t)s->created_realtime_ns));
	json_object_set_new(root, "pid", json_integer((json_int_t)s->pid));
	for (char **a = s->argv; *a; a++)
		json_array_append_new(argv, text_to_json(*a, strlen(*a)));
	json_object_set_new(root, "argv", argv);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		json_object_set_new(root, sections[i].name,
				    kv_to_json(section_of(s, &sections[i])));
	text = json_dumps(root, JSON_INDENT(2));
	json_decref(root);
	if (!text)
		return err_set(err, ERR_INTERNAL, "cannot write %s as JSON", path);
	return os_save_file(path, text, strlen(text), err);
}

static void replace(char **at, const json_t *v)
{
	buf_auto text = { 0 };

	text_from_json(v, &text);
	free(*at);
	*at = mem_strdup(buf_str(&text));
}

static void load_argv(struct session *s, json_t *argv)
{
	json_t *item;
	size_t i;

	if (!json_is_array(argv))
		return;
	free(s->argv);
	s->argv = mem_alloc((json_array_size(argv) + 1) * sizeof(*s->argv));
	json_array_foreach(argv, i, item) replace(&s->argv[i], item);
}

static uint64_t number_of(json_t *root, const char *name)
{
	json_int_t v = json_integer_value(json_object_get(root, name));

	return v < 0 ? 0 : (uint64_t)v;
}

static bool damaged(const struct session *s, struct err *err)
{
	return err_hint(err,
			"culprit report -i %s/capture/perf.data reads what was recorded; "
			"culprit rm %s removes the run",
			s->dir, s->id);
}

bool session_load(struct session *s, struct err *err)
{
	char_auto path = mem_printf("%s/manifest.json", s->dir);
	buf_auto text = { 0 };
	json_error_t trouble;
	json_t *root;
	const char *state;

	if (!os_load_file(path, 16u << 20, &text, err))
		return false;
	root = json_loadb(buf_str(&text), text.len, 0, &trouble);
	if (!json_is_object(root)) {
		if (root)
			err_set(err, ERR_FORMAT, "%s is damaged: it holds no object", path);
		else
			err_set(err, ERR_FORMAT, "%s is damaged: line %d: %s", path, trouble.line,
				trouble.text);
		json_decref(root);
		return damaged(s, err);
	}
	if (!number_of(root, "format")) {
		json_decref(root);
		err_set(err, ERR_FORMAT, "%s is damaged: it has no format number", path);
		return damaged(s, err);
	}
	if (number_of(root, "format") > SESSION_FORMAT) {
		err_set(err, ERR_UNSUPPORTED, "%s was made by a newer version of culprit", path);
		json_decref(root);
		return false;
	}
	state = json_string_value(json_object_get(root, "state"));
	s->state = SESSION_RECORDING;
	for (int i = SESSION_RECORDING; state && i <= SESSION_FAILED; i++)
		if (!strcmp(state, state_names[i]))
			s->state = (enum session_state)i;
	replace(&s->recipe, json_object_get(root, "recipe"));
	replace(&s->state_why, json_object_get(root, "state_why"));
	s->created_realtime_ns = number_of(root, "created_realtime_ns");
	s->pid = number_of(root, "pid");
	load_argv(s, json_object_get(root, "argv"));
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		kv_from_json(json_object_get(root, sections[i].name), section_of(s, &sections[i]));
	json_decref(root);
	return true;
}

/* True when a POSIX shell takes the word as it is. */
static bool is_plain(const char *s)
{
	return *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "@%_-+=:,./")];
}

void session_put_command(const struct session *s, struct buf *out)
{
	struct kv kv;

	if (!s->argv[0]) {
		kv_parse(&kv, (struct str){ (const char *)s->options.at, s->options.len });
		buf_puts(out, kv_get(&kv, "label"));
		kv_done(&kv);
	}
	for (char **a = s->argv; *a; a++) {
		if (a != s->argv)
			buf_u8(out, ' ');
		if (is_plain(*a)) {
			buf_puts(out, *a);
			continue;
		}
		buf_u8(out, '\'');
		for (const char *p = *a; *p; p++) {
			if (*p == '\'')
				buf_puts(out, "'\\''");
			else
				buf_u8(out, (uint8_t)*p);
		}
		buf_u8(out, '\'');
	}
}

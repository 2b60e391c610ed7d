/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LLVM's demangler behind a C call, with ceilings. Substitutions let a short name print as
 * gigabytes, so printing goes through a buffer of ours that stops; long names are parsed on a
 * thread with room on its stack, since nesting is recursion.
 */
#include <llvm/Config/llvm-config.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/Demangle/ItaniumDemangle.h>

#include <cstdlib>
#include <pthread.h>
#include <string>

extern "C" char *demangle_itanium(const char *raw, size_t len);

namespace
{

constexpr size_t MAX_OUTPUT = 64 << 10;
constexpr size_t LONG_NAME = 768;
constexpr size_t STACK_BYTES = 256 << 20;

struct request {
	const char *raw;
	char *result;
};

#if LLVM_VERSION_MAJOR >= 21

constexpr size_t MAX_DEPTH = 512;
constexpr size_t MAX_NODES = 1 << 18;

class capped_buffer : public llvm::itanium_demangle::OutputBuffer
{
	size_t depth = 0;
	size_t nodes = 0;

	bool is_full()
	{
		if (getCurrentPosition() > MAX_OUTPUT || depth > MAX_DEPTH || nodes > MAX_NODES)
			overflow = true;
		return overflow;
	}

      public:
	bool overflow = false;

	void printLeft(const llvm::itanium_demangle::Node &n) override
	{
		if (is_full())
			return;
		depth++;
		nodes++;
		OutputBuffer::printLeft(n);
		depth--;
	}

	void printRight(const llvm::itanium_demangle::Node &n) override
	{
		if (is_full())
			return;
		depth++;
		nodes++;
		OutputBuffer::printRight(n);
		depth--;
	}
};

char *demangle(const char *raw)
{
	llvm::ItaniumPartialDemangler parser;
	capped_buffer out;
	char *text = nullptr;

	if (!parser.partialDemangle(raw))
		text = parser.finishDemangle(&out);
	if (out.overflow) {
		/* The buffer is the printer's own; on the way out it may be at another place. */
		std::free(out.getBuffer());
		return nullptr;
	}
	return text;
}

#else

/* No way to stop it while it prints: only names too short to do harm. */
char *demangle(const char *raw)
{
	return std::char_traits<char>::length(raw) > 512 ? nullptr : llvm::itaniumDemangle(raw);
}

#endif

void *run(void *arg)
{
	request *r = static_cast<request *>(arg);

	r->result = demangle(r->raw);
	return nullptr;
}

} // namespace

extern "C" char *demangle_itanium(const char *raw, size_t len)
{
	request r = { raw, nullptr };
	pthread_attr_t attr;
	pthread_t thread;

	if (len <= LONG_NAME) {
		run(&r);
		return r.result;
	}
	if (pthread_attr_init(&attr))
		return nullptr;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (!pthread_create(&thread, &attr, run, &r))
		pthread_join(thread, nullptr);
	pthread_attr_destroy(&attr);
	return r.result;
}

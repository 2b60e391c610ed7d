/* SPDX-License-Identifier: Apache-2.0 */
/* cpp MILLISECONDS: C++ names that a profiler must read.
 *
 * What a truthful profiler says: equal thirds in
 *	unsigned long shop::mill<unsigned long>::grind<3>(unsigned long) const
 *	shop::(anonymous namespace)::sieve(unsigned long)
 *	the operator() of a lambda in shop::bake(long).
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <time.h>

#define NOINLINE __attribute__((noinline))

namespace shop
{

static volatile std::uint64_t sink;
static std::uint32_t random_state = 2463534242u;

/* Lengths without a period, lest they beat with the sampling. */
static int chunk()
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return 1000 + int(random_state % 50000);
}

template <typename T> struct mill {
	T factor;

	template <int N> NOINLINE T grind(T x) const
	{
		for (int i = chunk(); i > 0; i--)
			x = x * factor + N;
		return x;
	}
};

namespace
{

NOINLINE std::uint64_t sieve(std::uint64_t x)
{
	for (int i = chunk(); i > 0; i--)
		x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
	return x;
}

} // namespace

static std::int64_t cpu_ns()
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return std::int64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
}

template <typename F> static std::int64_t timed(F &&work)
{
	std::int64_t before = cpu_ns();

	sink = work(sink);
	return cpu_ns() - before;
}

static void bake(long ms)
{
	auto knead = [](std::uint64_t x) NOINLINE {
		for (int i = chunk(); i > 0; i--)
			x = (x << 7 | x >> 57) * 3 + 5;
		return x;
	};
	mill<std::uint64_t> stone{ 6364136223846793005u };
	std::int64_t spent[3] = { 0, 0, 0 };
	std::int64_t until = cpu_ns() + ms * 1000000;

	while (cpu_ns() < until) {
		if (spent[0] <= spent[1] && spent[0] <= spent[2])
			spent[0] += timed([&](std::uint64_t x) { return stone.grind<3>(x); });
		else if (spent[1] <= spent[2])
			spent[1] += timed(sieve);
		else
			spent[2] += timed(knead);
	}
}

} // namespace shop

int main(int argc, char **argv)
{
	long ms = argc == 2 ? std::strtol(argv[1], nullptr, 10) : 0;

	if (ms <= 0) {
		std::fprintf(stderr, "usage: cpp MILLISECONDS\n");
		return 2;
	}
	shop::bake(ms);
	return 0;
}

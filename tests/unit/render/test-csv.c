/* SPDX-License-Identifier: Apache-2.0 */
/* The CSV renderer. */
#include "base/os.h"
#include "sample.h"
#include "test.h"

static void golden(struct findings *f, const char *name)
{
	buf_auto out = { 0 };

	render_csv(&out, f, NULL);
	check_golden(&out, name);
	findings_free(f);
}

TEST(golden_csv)
{
	golden(sample_full(), "full.csv");
}

TEST(golden_csv_names)
{
	golden(sample_names(), "names.csv");
}

TEST(csv_quotes_and_disarms)
{
	struct findings *f = sample_names();
	buf_auto out = { 0 };

	render_csv(&out, f, NULL);
	CHECK_HAS(buf_str(&out), "\r\n# table threads\r\npct,samples,process,pid,thread,tid\r\n"
				 "8.25,1659,names (2) prog,100,java main,101\r\n");
	CHECK_HAS(buf_str(&out), ",tab\there,");
	CHECK_HAS(buf_str(&out), ",\"nl\nhere\",");
	CHECK_HAS(buf_str(&out), ",\"<b>hi</b>&'\"\"\",");
	/* No spreadsheet takes this for a formula. */
	CHECK_HAS(buf_str(&out), ",\"'=cmd|' /C calc'!A0\",");
	CHECK_HAS(buf_str(&out), ",\"  lead\",");
	CHECK_HAS(buf_str(&out), ",\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdzz,");
	CHECK_HAS(buf_str(&out), ",z\xef\xbf\xbdy,113\r\n");
	CHECK_HAS(buf_str(&out), ",100,,110\r\n");
	CHECK(!memchr(out.at, 0x1b, out.len));
	findings_free(f);
}

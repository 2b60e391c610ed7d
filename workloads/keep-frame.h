/* SPDX-License-Identifier: Apache-2.0 */
/* A frame pointer for leaf functions, so that a call chain taken there does not miss the caller. */
#ifndef KEEP_FRAME_H
#define KEEP_FRAME_H

/* First in a function's body: something on the stack, without which gcc makes a leaf function no
 * frame whatever -fno-omit-frame-pointer says. */
#define KEEP_FRAME                   \
	volatile int keep_frame = 0; \
	(void)keep_frame

#endif

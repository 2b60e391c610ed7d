/* SPDX-License-Identifier: Apache-2.0 */
/* isa-aarch64: one instruction of nearly every extension from Armv8.1 to Armv9.6, as words, because
 * the assembler at hand knows only half of them.
 *
 * The program ends at once with status 0; its function isa is there to be disassembled. Tests read
 * this file too: a disassembler must say of each word what its comment says, mnemonic first.
 */
	.text

	.global	isa
	.type	isa, %function
isa:
	/* LSE */
	.inst	0xf8200041 // ldadd x0, x1, [x2]
	.inst	0xb8e300a4 // ldaddal w3, w4, [x5]
	.inst	0xf8a68107 // swpa x6, x7, [x8]
	.inst	0xc8e9fd6a // casal x9, x10, [x11]
	.inst	0x48207c82 // casp x0, x1, x2, x3, [x4]
	.inst	0xf8614062 // ldsmaxl x1, x2, [x3]
	.inst	0x382410bf // stclrb w4, [x5]

	/* LSE128 */
	.inst	0x19228061 // swpp x1, x2, [x3]
	.inst	0x19e510c4 // ldclrpal x4, x5, [x6]

	/* LRCPC, LRCPC2, LRCPC3 */
	.inst	0xf8bfc041 // ldapr x1, [x2]
	.inst	0xd95f8083 // ldapur x3, [x4, #-8]
	.inst	0x590020c5 // stlurh w5, [x6, #2]
	.inst	0xd9481927 // ldiapp x7, x8, [x9]
	.inst	0x99020861 // stilp w1, w2, [x3, #-8]!

	/* PAC */
	.inst	0xd503233f // paciasp
	.inst	0xd50323bf // autiasp
	.inst	0xdac10041 // pacia x1, x2
	.inst	0xdac13fe3 // autdzb x3
	.inst	0xdac143fe // xpaci x30
	.inst	0xd65f0bff // retaa
	.inst	0xd71f083f // braa x1, sp
	.inst	0xd63f085f // blraaz x2
	.inst	0xf8202483 // ldraa x3, [x4, #16]

	/* BTI */
	.inst	0xd503245f // bti c
	.inst	0xd50324df // bti jc

	/* MTE */
	.inst	0x9ac21020 // irg x0, x1, x2
	.inst	0x91810483 // addg x3, x4, #16, #1
	.inst	0xd92008c5 // stg x5, [x6]
	.inst	0xd9600107 // ldg x7, [x8]
	.inst	0xd9a02c41 // st2g x1, [x2, #32]!
	.inst	0x9ac50083 // subp x3, x4, x5
	.inst	0xd9200041 // stzgm x1, [x2]

	/* SVE */
	.inst	0x2598e3e0 // ptrue p0.s
	.inst	0x25e31c41 // whilelo p1.d, x2, x3
	.inst	0xa5424020 // ld1w { z0.s }, p0/z, [x1, x2, lsl #2]
	.inst	0xc5e5c483 // ld1d { z3.d }, p1/z, [x4, z5.d, lsl #3]
	.inst	0x65e30041 // fmla z1.d, p0/m, z2.d, z3.d
	.inst	0x043f57ff // addvl sp, sp, #-1
	.inst	0x04e0e3e5 // cntd x5
	.inst	0xe402ed07 // st1b { z7.b }, p3, [x8, #2, mul vl]
	.inst	0x65c02041 // faddv d1, p0, z2.d

	/* SVE2 */
	.inst	0x44827020 // sqrdmlah z0.s, z1.s, z2.s
	.inst	0x05262883 // tbl z3.b, { z4.b, z5.b }, z6.b
	.inst	0x45a3c440 // histcnt z0.s, p1/z, z2.s, z3.s
	.inst	0x45238440 // match p0.b, p1/z, z2.b, z3.b
	.inst	0x45c3b441 // bdep z1.d, z2.d, z3.d
	.inst	0x4522e020 // aese z0.b, z0.b, z1.b
	.inst	0x05601420 // ext z0.b, { z1.b, z2.b }, #5

	/* SVE2.1 */
	.inst	0x25a35050 // whilege { p0.s, p1.s }, x2, x3
	.inst	0xa040c020 // ld1w { z0.s - z3.s }, pn8/z, [x1]
	.inst	0x64e22420 // fclamp z0.d, z1.d, z2.d

	/* SME */
	.inst	0xd503477f // smstart
	.inst	0xd503447f // smstop za
	.inst	0x04bf5821 // rdsvl x1, #1
	.inst	0x80832040 // fmopa za0.s, p0/m, p1/m, z2.s, z3.s
	.inst	0xe09f0860 // ld1w {za0h.s[w12, 0]}, p2/z, [x3]
	.inst	0xc0080005 // zero {za0.d, za2.d}
	.inst	0xe1002041 // ldr za[w13, 1], [x2, #1, mul vl]

	/* SME2 */
	.inst	0xe11f8020 // ldr zt0, [x1]
	.inst	0xc08de040 // luti2 { z0.s, z1.s }, zt0, z2[3]
	.inst	0xc1a51800 // fmla za.s[w8, 0, vgx4], { z0.s - z3.s }, { z4.s - z7.s }
	.inst	0xc1643449 // sdot za.s[w9, 1, vgx2], { z2.h, z3.h }, z4.h
	.inst	0xc0060000 // mov { z0.b, z1.b }, za0h.b[w12, 0:1]

	/* MOPS */
	.inst	0x19010440 // cpyfp [x0]!, [x1]!, x2!
	.inst	0x1d4404a3 // cpym [x3]!, [x4]!, x5!
	.inst	0x19c884e6 // sete [x6]!, x7!, x8

	/* CSSC */
	.inst	0xdac02020 // abs x0, x1
	.inst	0x5ac01c62 // cnt w2, w3
	.inst	0xdac018a4 // ctz x4, x5
	.inst	0x91c3ece6 // smax x6, x7, #-5
	.inst	0x1ac36c41 // umin w1, w2, w3

	/* LS64 */
	.inst	0xf83fd020 // ld64b x0, [x1]
	.inst	0xf83f9062 // st64b x2, [x3]
	.inst	0xf821a082 // st64bv0 x1, x2, [x4]

	/* bf16 */
	.inst	0x6e42fc20 // bfdot v0.4s, v1.8h, v2.8h
	.inst	0x6e45ec83 // bfmmla v3.4s, v4.8h, v5.8h
	.inst	0x1e634041 // bfcvt h1, s2
	.inst	0x6ec2fc20 // bfmlalt v0.4s, v1.8h, v2.8h
	.inst	0x64638041 // bfdot z1.s, z2.h, z3.h

	/* i8mm */
	.inst	0x4e82a420 // smmla v0.4s, v1.16b, v2.16b
	.inst	0x4e859c83 // usdot v3.4s, v4.16b, v5.16b
	.inst	0x45c898e6 // ummla z6.s, z7.b, z8.b

	/* SHA3, SHA512, SM4, AES */
	.inst	0xce020c20 // eor3 v0.16b, v1.16b, v2.16b, v3.16b
	.inst	0xce261ca4 // bcax v4.16b, v5.16b, v6.16b, v7.16b
	.inst	0xce638c41 // rax1 v1.2d, v2.2d, v3.2d
	.inst	0xce82fc20 // xar v0.2d, v1.2d, v2.2d, #63
	.inst	0xce628020 // sha512h q0, q1, v2.2d
	.inst	0xcec08420 // sm4e v0.4s, v1.4s
	.inst	0x4e286862 // aesmc v2.16b, v3.16b
	.inst	0x0ee2e020 // pmull v0.1q, v1.1d, v2.1d

	/* CRC32 */
	.inst	0x9ac25c20 // crc32cx w0, w1, x2
	.inst	0x1ac54083 // crc32b w3, w4, w5

	/* RDM, DotProd, FHM, FCMA, JSCVT, FRINTTS */
	.inst	0x6e828420 // sqrdmlah v0.4s, v1.4s, v2.4s
	.inst	0x6e859483 // udot v3.4s, v4.16b, v5.16b
	.inst	0x4e22ec20 // fmlal v0.4s, v1.4h, v2.4h
	.inst	0x6e82cc20 // fcmla v0.4s, v1.4s, v2.4s, #90
	.inst	0x1e7e0041 // fjcvtzs w1, d2
	.inst	0x1e684083 // frint32z d3, d4

	/* FP16, FP8 */
	.inst	0x1ee22820 // fadd h0, h1, h2
	.inst	0x4e450c83 // fmla v3.8h, v4.8h, v5.8h
	.inst	0x4e02fc20 // fdot v0.4s, v1.16b, v2.16b

	/* FlagM, FlagM2, CSDB, SB, DPB2, WFxT, RNG */
	.inst	0xba01842f // rmif x1, #3, #15
	.inst	0x3a00084d // setf8 w2
	.inst	0xd500405f // axflag
	.inst	0xd50330ff // sb
	.inst	0xd503229f // csdb
	.inst	0xd5031003 // wfet x3
	.inst	0xd53b2404 // mrs x4, RNDR
	.inst	0xd50b7d25 // dc cvadp, x5

	/* GCS, THE, CHK */
	.inst	0xd50b7701 // gcspushm x1
	.inst	0xd52b7722 // gcspopm x2
	.inst	0xd503251f // chkfeat x16
	.inst	0x19200841 // rcwcas x0, x1, [x2]

	/* SYSREG128 */
	.inst	0xd5782000 // mrrs x0, x1, TTBR0_EL1

	/* counters and timers */
	.inst	0xd53b9d00 // mrs x0, PMCCNTR_EL0
	.inst	0xd53be041 // mrs x1, CNTVCT_EL0

	/* SPE, TRBE */
	.inst	0xd503223f // psb csync
	.inst	0xd503225f // tsb csync

	ret
	.size	isa, . - isa

	.global	_start
	.type	_start, %function
_start:
	mov	x0, #0
	mov	x8, #93
	svc	#0
	.size	_start, . - _start

	.section .note.GNU-stack, "", %progbits

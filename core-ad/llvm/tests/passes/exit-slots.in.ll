; Values for the end of a large function stay in memory; the variable of the loop is promoted.

define double @ffgrad_vjp(double %x, i1 %early, i1 %again) {
entry:
  %inner = alloca double
  %p0 = alloca double
  %p1 = alloca double
  %p2 = alloca double
  %p3 = alloca double
  %p4 = alloca double
  %p5 = alloca double
  %p6 = alloca double
  %p7 = alloca double
  %p8 = alloca double
  %p9 = alloca double
  %p10 = alloca double
  %p11 = alloca double
  %p12 = alloca double
  %p13 = alloca double
  %p14 = alloca double
  %p15 = alloca double
  %p16 = alloca double
  %p17 = alloca double
  %p18 = alloca double
  %p19 = alloca double
  %p20 = alloca double
  %p21 = alloca double
  %p22 = alloca double
  %p23 = alloca double
  %p24 = alloca double
  %p25 = alloca double
  %p26 = alloca double
  %p27 = alloca double
  %p28 = alloca double
  %p29 = alloca double
  %p30 = alloca double
  %p31 = alloca double
  %p32 = alloca double
  %p33 = alloca double
  %p34 = alloca double
  %p35 = alloca double
  %p36 = alloca double
  %p37 = alloca double
  %p38 = alloca double
  %p39 = alloca double
  %p40 = alloca double
  %p41 = alloca double
  %p42 = alloca double
  %p43 = alloca double
  %p44 = alloca double
  %p45 = alloca double
  %p46 = alloca double
  %p47 = alloca double
  %p48 = alloca double
  %p49 = alloca double
  %p50 = alloca double
  %p51 = alloca double
  %p52 = alloca double
  %p53 = alloca double
  %p54 = alloca double
  %p55 = alloca double
  %p56 = alloca double
  %p57 = alloca double
  %p58 = alloca double
  %p59 = alloca double
  %p60 = alloca double
  %p61 = alloca double
  %p62 = alloca double
  %p63 = alloca double
  %p64 = alloca double
  %p65 = alloca double
  %p66 = alloca double
  %p67 = alloca double
  %p68 = alloca double
  %p69 = alloca double
  %p70 = alloca double
  %p71 = alloca double
  %p72 = alloca double
  %p73 = alloca double
  %p74 = alloca double
  %p75 = alloca double
  %p76 = alloca double
  %p77 = alloca double
  %p78 = alloca double
  %p79 = alloca double
  %p80 = alloca double
  %p81 = alloca double
  %p82 = alloca double
  %p83 = alloca double
  %p84 = alloca double
  %p85 = alloca double
  %p86 = alloca double
  %p87 = alloca double
  %p88 = alloca double
  %p89 = alloca double
  %p90 = alloca double
  %p91 = alloca double
  %p92 = alloca double
  %p93 = alloca double
  %p94 = alloca double
  %p95 = alloca double
  %p96 = alloca double
  %p97 = alloca double
  %p98 = alloca double
  %p99 = alloca double
  %p100 = alloca double
  %p101 = alloca double
  %p102 = alloca double
  %p103 = alloca double
  %p104 = alloca double
  %p105 = alloca double
  %p106 = alloca double
  %p107 = alloca double
  %p108 = alloca double
  %p109 = alloca double
  %p110 = alloca double
  %p111 = alloca double
  %p112 = alloca double
  %p113 = alloca double
  %p114 = alloca double
  %p115 = alloca double
  %p116 = alloca double
  %p117 = alloca double
  %p118 = alloca double
  %p119 = alloca double
  %p120 = alloca double
  %p121 = alloca double
  %p122 = alloca double
  %p123 = alloca double
  %p124 = alloca double
  %p125 = alloca double
  %p126 = alloca double
  %p127 = alloca double
  %p128 = alloca double
  %p129 = alloca double
  %p130 = alloca double
  %p131 = alloca double
  %p132 = alloca double
  %p133 = alloca double
  %p134 = alloca double
  %p135 = alloca double
  %p136 = alloca double
  %p137 = alloca double
  %p138 = alloca double
  %p139 = alloca double
  %p140 = alloca double
  %p141 = alloca double
  %p142 = alloca double
  %p143 = alloca double
  %p144 = alloca double
  %p145 = alloca double
  %p146 = alloca double
  %p147 = alloca double
  %p148 = alloca double
  %p149 = alloca double
  %p150 = alloca double
  %p151 = alloca double
  %p152 = alloca double
  %p153 = alloca double
  %p154 = alloca double
  %p155 = alloca double
  %p156 = alloca double
  %p157 = alloca double
  %p158 = alloca double
  %p159 = alloca double
  %p160 = alloca double
  %p161 = alloca double
  %p162 = alloca double
  %p163 = alloca double
  %p164 = alloca double
  %p165 = alloca double
  %p166 = alloca double
  %p167 = alloca double
  %p168 = alloca double
  %p169 = alloca double
  %p170 = alloca double
  %p171 = alloca double
  %p172 = alloca double
  %p173 = alloca double
  %p174 = alloca double
  %p175 = alloca double
  %p176 = alloca double
  %p177 = alloca double
  %p178 = alloca double
  %p179 = alloca double
  %p180 = alloca double
  %p181 = alloca double
  %p182 = alloca double
  %p183 = alloca double
  %p184 = alloca double
  %p185 = alloca double
  %p186 = alloca double
  %p187 = alloca double
  %p188 = alloca double
  %p189 = alloca double
  %p190 = alloca double
  %p191 = alloca double
  %p192 = alloca double
  %p193 = alloca double
  %p194 = alloca double
  %p195 = alloca double
  %p196 = alloca double
  %p197 = alloca double
  %p198 = alloca double
  %p199 = alloca double
  %p200 = alloca double
  %p201 = alloca double
  %p202 = alloca double
  %p203 = alloca double
  %p204 = alloca double
  %p205 = alloca double
  %p206 = alloca double
  %p207 = alloca double
  %p208 = alloca double
  %p209 = alloca double
  %p210 = alloca double
  %p211 = alloca double
  %p212 = alloca double
  %p213 = alloca double
  %p214 = alloca double
  %p215 = alloca double
  %p216 = alloca double
  %p217 = alloca double
  %p218 = alloca double
  %p219 = alloca double
  %p220 = alloca double
  %p221 = alloca double
  %p222 = alloca double
  %p223 = alloca double
  %p224 = alloca double
  %p225 = alloca double
  %p226 = alloca double
  %p227 = alloca double
  %p228 = alloca double
  %p229 = alloca double
  %p230 = alloca double
  %p231 = alloca double
  %p232 = alloca double
  %p233 = alloca double
  %p234 = alloca double
  %p235 = alloca double
  %p236 = alloca double
  %p237 = alloca double
  %p238 = alloca double
  %p239 = alloca double
  %p240 = alloca double
  %p241 = alloca double
  %p242 = alloca double
  %p243 = alloca double
  %p244 = alloca double
  %p245 = alloca double
  %p246 = alloca double
  %p247 = alloca double
  %p248 = alloca double
  %p249 = alloca double
  %p250 = alloca double
  %p251 = alloca double
  %p252 = alloca double
  %p253 = alloca double
  %p254 = alloca double
  %p255 = alloca double
  %p256 = alloca double
  %p257 = alloca double
  %p258 = alloca double
  %p259 = alloca double
  store double %x, ptr %inner
  br i1 %early, label %end, label %loop

loop:
  %v = load double, ptr %inner
  %w = fmul double %v, %x
  store double %w, ptr %inner
  br i1 %again, label %loop, label %fill

fill:
  store double %w, ptr %p0
  store double %w, ptr %p1
  store double %w, ptr %p2
  store double %w, ptr %p3
  store double %w, ptr %p4
  store double %w, ptr %p5
  store double %w, ptr %p6
  store double %w, ptr %p7
  store double %w, ptr %p8
  store double %w, ptr %p9
  store double %w, ptr %p10
  store double %w, ptr %p11
  store double %w, ptr %p12
  store double %w, ptr %p13
  store double %w, ptr %p14
  store double %w, ptr %p15
  store double %w, ptr %p16
  store double %w, ptr %p17
  store double %w, ptr %p18
  store double %w, ptr %p19
  store double %w, ptr %p20
  store double %w, ptr %p21
  store double %w, ptr %p22
  store double %w, ptr %p23
  store double %w, ptr %p24
  store double %w, ptr %p25
  store double %w, ptr %p26
  store double %w, ptr %p27
  store double %w, ptr %p28
  store double %w, ptr %p29
  store double %w, ptr %p30
  store double %w, ptr %p31
  store double %w, ptr %p32
  store double %w, ptr %p33
  store double %w, ptr %p34
  store double %w, ptr %p35
  store double %w, ptr %p36
  store double %w, ptr %p37
  store double %w, ptr %p38
  store double %w, ptr %p39
  store double %w, ptr %p40
  store double %w, ptr %p41
  store double %w, ptr %p42
  store double %w, ptr %p43
  store double %w, ptr %p44
  store double %w, ptr %p45
  store double %w, ptr %p46
  store double %w, ptr %p47
  store double %w, ptr %p48
  store double %w, ptr %p49
  store double %w, ptr %p50
  store double %w, ptr %p51
  store double %w, ptr %p52
  store double %w, ptr %p53
  store double %w, ptr %p54
  store double %w, ptr %p55
  store double %w, ptr %p56
  store double %w, ptr %p57
  store double %w, ptr %p58
  store double %w, ptr %p59
  store double %w, ptr %p60
  store double %w, ptr %p61
  store double %w, ptr %p62
  store double %w, ptr %p63
  store double %w, ptr %p64
  store double %w, ptr %p65
  store double %w, ptr %p66
  store double %w, ptr %p67
  store double %w, ptr %p68
  store double %w, ptr %p69
  store double %w, ptr %p70
  store double %w, ptr %p71
  store double %w, ptr %p72
  store double %w, ptr %p73
  store double %w, ptr %p74
  store double %w, ptr %p75
  store double %w, ptr %p76
  store double %w, ptr %p77
  store double %w, ptr %p78
  store double %w, ptr %p79
  store double %w, ptr %p80
  store double %w, ptr %p81
  store double %w, ptr %p82
  store double %w, ptr %p83
  store double %w, ptr %p84
  store double %w, ptr %p85
  store double %w, ptr %p86
  store double %w, ptr %p87
  store double %w, ptr %p88
  store double %w, ptr %p89
  store double %w, ptr %p90
  store double %w, ptr %p91
  store double %w, ptr %p92
  store double %w, ptr %p93
  store double %w, ptr %p94
  store double %w, ptr %p95
  store double %w, ptr %p96
  store double %w, ptr %p97
  store double %w, ptr %p98
  store double %w, ptr %p99
  store double %w, ptr %p100
  store double %w, ptr %p101
  store double %w, ptr %p102
  store double %w, ptr %p103
  store double %w, ptr %p104
  store double %w, ptr %p105
  store double %w, ptr %p106
  store double %w, ptr %p107
  store double %w, ptr %p108
  store double %w, ptr %p109
  store double %w, ptr %p110
  store double %w, ptr %p111
  store double %w, ptr %p112
  store double %w, ptr %p113
  store double %w, ptr %p114
  store double %w, ptr %p115
  store double %w, ptr %p116
  store double %w, ptr %p117
  store double %w, ptr %p118
  store double %w, ptr %p119
  store double %w, ptr %p120
  store double %w, ptr %p121
  store double %w, ptr %p122
  store double %w, ptr %p123
  store double %w, ptr %p124
  store double %w, ptr %p125
  store double %w, ptr %p126
  store double %w, ptr %p127
  store double %w, ptr %p128
  store double %w, ptr %p129
  store double %w, ptr %p130
  store double %w, ptr %p131
  store double %w, ptr %p132
  store double %w, ptr %p133
  store double %w, ptr %p134
  store double %w, ptr %p135
  store double %w, ptr %p136
  store double %w, ptr %p137
  store double %w, ptr %p138
  store double %w, ptr %p139
  store double %w, ptr %p140
  store double %w, ptr %p141
  store double %w, ptr %p142
  store double %w, ptr %p143
  store double %w, ptr %p144
  store double %w, ptr %p145
  store double %w, ptr %p146
  store double %w, ptr %p147
  store double %w, ptr %p148
  store double %w, ptr %p149
  store double %w, ptr %p150
  store double %w, ptr %p151
  store double %w, ptr %p152
  store double %w, ptr %p153
  store double %w, ptr %p154
  store double %w, ptr %p155
  store double %w, ptr %p156
  store double %w, ptr %p157
  store double %w, ptr %p158
  store double %w, ptr %p159
  store double %w, ptr %p160
  store double %w, ptr %p161
  store double %w, ptr %p162
  store double %w, ptr %p163
  store double %w, ptr %p164
  store double %w, ptr %p165
  store double %w, ptr %p166
  store double %w, ptr %p167
  store double %w, ptr %p168
  store double %w, ptr %p169
  store double %w, ptr %p170
  store double %w, ptr %p171
  store double %w, ptr %p172
  store double %w, ptr %p173
  store double %w, ptr %p174
  store double %w, ptr %p175
  store double %w, ptr %p176
  store double %w, ptr %p177
  store double %w, ptr %p178
  store double %w, ptr %p179
  store double %w, ptr %p180
  store double %w, ptr %p181
  store double %w, ptr %p182
  store double %w, ptr %p183
  store double %w, ptr %p184
  store double %w, ptr %p185
  store double %w, ptr %p186
  store double %w, ptr %p187
  store double %w, ptr %p188
  store double %w, ptr %p189
  store double %w, ptr %p190
  store double %w, ptr %p191
  store double %w, ptr %p192
  store double %w, ptr %p193
  store double %w, ptr %p194
  store double %w, ptr %p195
  store double %w, ptr %p196
  store double %w, ptr %p197
  store double %w, ptr %p198
  store double %w, ptr %p199
  store double %w, ptr %p200
  store double %w, ptr %p201
  store double %w, ptr %p202
  store double %w, ptr %p203
  store double %w, ptr %p204
  store double %w, ptr %p205
  store double %w, ptr %p206
  store double %w, ptr %p207
  store double %w, ptr %p208
  store double %w, ptr %p209
  store double %w, ptr %p210
  store double %w, ptr %p211
  store double %w, ptr %p212
  store double %w, ptr %p213
  store double %w, ptr %p214
  store double %w, ptr %p215
  store double %w, ptr %p216
  store double %w, ptr %p217
  store double %w, ptr %p218
  store double %w, ptr %p219
  store double %w, ptr %p220
  store double %w, ptr %p221
  store double %w, ptr %p222
  store double %w, ptr %p223
  store double %w, ptr %p224
  store double %w, ptr %p225
  store double %w, ptr %p226
  store double %w, ptr %p227
  store double %w, ptr %p228
  store double %w, ptr %p229
  store double %w, ptr %p230
  store double %w, ptr %p231
  store double %w, ptr %p232
  store double %w, ptr %p233
  store double %w, ptr %p234
  store double %w, ptr %p235
  store double %w, ptr %p236
  store double %w, ptr %p237
  store double %w, ptr %p238
  store double %w, ptr %p239
  store double %w, ptr %p240
  store double %w, ptr %p241
  store double %w, ptr %p242
  store double %w, ptr %p243
  store double %w, ptr %p244
  store double %w, ptr %p245
  store double %w, ptr %p246
  store double %w, ptr %p247
  store double %w, ptr %p248
  store double %w, ptr %p249
  store double %w, ptr %p250
  store double %w, ptr %p251
  store double %w, ptr %p252
  store double %w, ptr %p253
  store double %w, ptr %p254
  store double %w, ptr %p255
  store double %w, ptr %p256
  store double %w, ptr %p257
  store double %w, ptr %p258
  store double %w, ptr %p259
  br label %end

end:
  %s0 = load double, ptr %p0
  %r1 = load double, ptr %p1
  %s1 = fadd double %s0, %r1
  %r2 = load double, ptr %p2
  %s2 = fadd double %s1, %r2
  %r3 = load double, ptr %p3
  %s3 = fadd double %s2, %r3
  %r4 = load double, ptr %p4
  %s4 = fadd double %s3, %r4
  %r5 = load double, ptr %p5
  %s5 = fadd double %s4, %r5
  %r6 = load double, ptr %p6
  %s6 = fadd double %s5, %r6
  %r7 = load double, ptr %p7
  %s7 = fadd double %s6, %r7
  %r8 = load double, ptr %p8
  %s8 = fadd double %s7, %r8
  %r9 = load double, ptr %p9
  %s9 = fadd double %s8, %r9
  %r10 = load double, ptr %p10
  %s10 = fadd double %s9, %r10
  %r11 = load double, ptr %p11
  %s11 = fadd double %s10, %r11
  %r12 = load double, ptr %p12
  %s12 = fadd double %s11, %r12
  %r13 = load double, ptr %p13
  %s13 = fadd double %s12, %r13
  %r14 = load double, ptr %p14
  %s14 = fadd double %s13, %r14
  %r15 = load double, ptr %p15
  %s15 = fadd double %s14, %r15
  %r16 = load double, ptr %p16
  %s16 = fadd double %s15, %r16
  %r17 = load double, ptr %p17
  %s17 = fadd double %s16, %r17
  %r18 = load double, ptr %p18
  %s18 = fadd double %s17, %r18
  %r19 = load double, ptr %p19
  %s19 = fadd double %s18, %r19
  %r20 = load double, ptr %p20
  %s20 = fadd double %s19, %r20
  %r21 = load double, ptr %p21
  %s21 = fadd double %s20, %r21
  %r22 = load double, ptr %p22
  %s22 = fadd double %s21, %r22
  %r23 = load double, ptr %p23
  %s23 = fadd double %s22, %r23
  %r24 = load double, ptr %p24
  %s24 = fadd double %s23, %r24
  %r25 = load double, ptr %p25
  %s25 = fadd double %s24, %r25
  %r26 = load double, ptr %p26
  %s26 = fadd double %s25, %r26
  %r27 = load double, ptr %p27
  %s27 = fadd double %s26, %r27
  %r28 = load double, ptr %p28
  %s28 = fadd double %s27, %r28
  %r29 = load double, ptr %p29
  %s29 = fadd double %s28, %r29
  %r30 = load double, ptr %p30
  %s30 = fadd double %s29, %r30
  %r31 = load double, ptr %p31
  %s31 = fadd double %s30, %r31
  %r32 = load double, ptr %p32
  %s32 = fadd double %s31, %r32
  %r33 = load double, ptr %p33
  %s33 = fadd double %s32, %r33
  %r34 = load double, ptr %p34
  %s34 = fadd double %s33, %r34
  %r35 = load double, ptr %p35
  %s35 = fadd double %s34, %r35
  %r36 = load double, ptr %p36
  %s36 = fadd double %s35, %r36
  %r37 = load double, ptr %p37
  %s37 = fadd double %s36, %r37
  %r38 = load double, ptr %p38
  %s38 = fadd double %s37, %r38
  %r39 = load double, ptr %p39
  %s39 = fadd double %s38, %r39
  %r40 = load double, ptr %p40
  %s40 = fadd double %s39, %r40
  %r41 = load double, ptr %p41
  %s41 = fadd double %s40, %r41
  %r42 = load double, ptr %p42
  %s42 = fadd double %s41, %r42
  %r43 = load double, ptr %p43
  %s43 = fadd double %s42, %r43
  %r44 = load double, ptr %p44
  %s44 = fadd double %s43, %r44
  %r45 = load double, ptr %p45
  %s45 = fadd double %s44, %r45
  %r46 = load double, ptr %p46
  %s46 = fadd double %s45, %r46
  %r47 = load double, ptr %p47
  %s47 = fadd double %s46, %r47
  %r48 = load double, ptr %p48
  %s48 = fadd double %s47, %r48
  %r49 = load double, ptr %p49
  %s49 = fadd double %s48, %r49
  %r50 = load double, ptr %p50
  %s50 = fadd double %s49, %r50
  %r51 = load double, ptr %p51
  %s51 = fadd double %s50, %r51
  %r52 = load double, ptr %p52
  %s52 = fadd double %s51, %r52
  %r53 = load double, ptr %p53
  %s53 = fadd double %s52, %r53
  %r54 = load double, ptr %p54
  %s54 = fadd double %s53, %r54
  %r55 = load double, ptr %p55
  %s55 = fadd double %s54, %r55
  %r56 = load double, ptr %p56
  %s56 = fadd double %s55, %r56
  %r57 = load double, ptr %p57
  %s57 = fadd double %s56, %r57
  %r58 = load double, ptr %p58
  %s58 = fadd double %s57, %r58
  %r59 = load double, ptr %p59
  %s59 = fadd double %s58, %r59
  %r60 = load double, ptr %p60
  %s60 = fadd double %s59, %r60
  %r61 = load double, ptr %p61
  %s61 = fadd double %s60, %r61
  %r62 = load double, ptr %p62
  %s62 = fadd double %s61, %r62
  %r63 = load double, ptr %p63
  %s63 = fadd double %s62, %r63
  %r64 = load double, ptr %p64
  %s64 = fadd double %s63, %r64
  %r65 = load double, ptr %p65
  %s65 = fadd double %s64, %r65
  %r66 = load double, ptr %p66
  %s66 = fadd double %s65, %r66
  %r67 = load double, ptr %p67
  %s67 = fadd double %s66, %r67
  %r68 = load double, ptr %p68
  %s68 = fadd double %s67, %r68
  %r69 = load double, ptr %p69
  %s69 = fadd double %s68, %r69
  %r70 = load double, ptr %p70
  %s70 = fadd double %s69, %r70
  %r71 = load double, ptr %p71
  %s71 = fadd double %s70, %r71
  %r72 = load double, ptr %p72
  %s72 = fadd double %s71, %r72
  %r73 = load double, ptr %p73
  %s73 = fadd double %s72, %r73
  %r74 = load double, ptr %p74
  %s74 = fadd double %s73, %r74
  %r75 = load double, ptr %p75
  %s75 = fadd double %s74, %r75
  %r76 = load double, ptr %p76
  %s76 = fadd double %s75, %r76
  %r77 = load double, ptr %p77
  %s77 = fadd double %s76, %r77
  %r78 = load double, ptr %p78
  %s78 = fadd double %s77, %r78
  %r79 = load double, ptr %p79
  %s79 = fadd double %s78, %r79
  %r80 = load double, ptr %p80
  %s80 = fadd double %s79, %r80
  %r81 = load double, ptr %p81
  %s81 = fadd double %s80, %r81
  %r82 = load double, ptr %p82
  %s82 = fadd double %s81, %r82
  %r83 = load double, ptr %p83
  %s83 = fadd double %s82, %r83
  %r84 = load double, ptr %p84
  %s84 = fadd double %s83, %r84
  %r85 = load double, ptr %p85
  %s85 = fadd double %s84, %r85
  %r86 = load double, ptr %p86
  %s86 = fadd double %s85, %r86
  %r87 = load double, ptr %p87
  %s87 = fadd double %s86, %r87
  %r88 = load double, ptr %p88
  %s88 = fadd double %s87, %r88
  %r89 = load double, ptr %p89
  %s89 = fadd double %s88, %r89
  %r90 = load double, ptr %p90
  %s90 = fadd double %s89, %r90
  %r91 = load double, ptr %p91
  %s91 = fadd double %s90, %r91
  %r92 = load double, ptr %p92
  %s92 = fadd double %s91, %r92
  %r93 = load double, ptr %p93
  %s93 = fadd double %s92, %r93
  %r94 = load double, ptr %p94
  %s94 = fadd double %s93, %r94
  %r95 = load double, ptr %p95
  %s95 = fadd double %s94, %r95
  %r96 = load double, ptr %p96
  %s96 = fadd double %s95, %r96
  %r97 = load double, ptr %p97
  %s97 = fadd double %s96, %r97
  %r98 = load double, ptr %p98
  %s98 = fadd double %s97, %r98
  %r99 = load double, ptr %p99
  %s99 = fadd double %s98, %r99
  %r100 = load double, ptr %p100
  %s100 = fadd double %s99, %r100
  %r101 = load double, ptr %p101
  %s101 = fadd double %s100, %r101
  %r102 = load double, ptr %p102
  %s102 = fadd double %s101, %r102
  %r103 = load double, ptr %p103
  %s103 = fadd double %s102, %r103
  %r104 = load double, ptr %p104
  %s104 = fadd double %s103, %r104
  %r105 = load double, ptr %p105
  %s105 = fadd double %s104, %r105
  %r106 = load double, ptr %p106
  %s106 = fadd double %s105, %r106
  %r107 = load double, ptr %p107
  %s107 = fadd double %s106, %r107
  %r108 = load double, ptr %p108
  %s108 = fadd double %s107, %r108
  %r109 = load double, ptr %p109
  %s109 = fadd double %s108, %r109
  %r110 = load double, ptr %p110
  %s110 = fadd double %s109, %r110
  %r111 = load double, ptr %p111
  %s111 = fadd double %s110, %r111
  %r112 = load double, ptr %p112
  %s112 = fadd double %s111, %r112
  %r113 = load double, ptr %p113
  %s113 = fadd double %s112, %r113
  %r114 = load double, ptr %p114
  %s114 = fadd double %s113, %r114
  %r115 = load double, ptr %p115
  %s115 = fadd double %s114, %r115
  %r116 = load double, ptr %p116
  %s116 = fadd double %s115, %r116
  %r117 = load double, ptr %p117
  %s117 = fadd double %s116, %r117
  %r118 = load double, ptr %p118
  %s118 = fadd double %s117, %r118
  %r119 = load double, ptr %p119
  %s119 = fadd double %s118, %r119
  %r120 = load double, ptr %p120
  %s120 = fadd double %s119, %r120
  %r121 = load double, ptr %p121
  %s121 = fadd double %s120, %r121
  %r122 = load double, ptr %p122
  %s122 = fadd double %s121, %r122
  %r123 = load double, ptr %p123
  %s123 = fadd double %s122, %r123
  %r124 = load double, ptr %p124
  %s124 = fadd double %s123, %r124
  %r125 = load double, ptr %p125
  %s125 = fadd double %s124, %r125
  %r126 = load double, ptr %p126
  %s126 = fadd double %s125, %r126
  %r127 = load double, ptr %p127
  %s127 = fadd double %s126, %r127
  %r128 = load double, ptr %p128
  %s128 = fadd double %s127, %r128
  %r129 = load double, ptr %p129
  %s129 = fadd double %s128, %r129
  %r130 = load double, ptr %p130
  %s130 = fadd double %s129, %r130
  %r131 = load double, ptr %p131
  %s131 = fadd double %s130, %r131
  %r132 = load double, ptr %p132
  %s132 = fadd double %s131, %r132
  %r133 = load double, ptr %p133
  %s133 = fadd double %s132, %r133
  %r134 = load double, ptr %p134
  %s134 = fadd double %s133, %r134
  %r135 = load double, ptr %p135
  %s135 = fadd double %s134, %r135
  %r136 = load double, ptr %p136
  %s136 = fadd double %s135, %r136
  %r137 = load double, ptr %p137
  %s137 = fadd double %s136, %r137
  %r138 = load double, ptr %p138
  %s138 = fadd double %s137, %r138
  %r139 = load double, ptr %p139
  %s139 = fadd double %s138, %r139
  %r140 = load double, ptr %p140
  %s140 = fadd double %s139, %r140
  %r141 = load double, ptr %p141
  %s141 = fadd double %s140, %r141
  %r142 = load double, ptr %p142
  %s142 = fadd double %s141, %r142
  %r143 = load double, ptr %p143
  %s143 = fadd double %s142, %r143
  %r144 = load double, ptr %p144
  %s144 = fadd double %s143, %r144
  %r145 = load double, ptr %p145
  %s145 = fadd double %s144, %r145
  %r146 = load double, ptr %p146
  %s146 = fadd double %s145, %r146
  %r147 = load double, ptr %p147
  %s147 = fadd double %s146, %r147
  %r148 = load double, ptr %p148
  %s148 = fadd double %s147, %r148
  %r149 = load double, ptr %p149
  %s149 = fadd double %s148, %r149
  %r150 = load double, ptr %p150
  %s150 = fadd double %s149, %r150
  %r151 = load double, ptr %p151
  %s151 = fadd double %s150, %r151
  %r152 = load double, ptr %p152
  %s152 = fadd double %s151, %r152
  %r153 = load double, ptr %p153
  %s153 = fadd double %s152, %r153
  %r154 = load double, ptr %p154
  %s154 = fadd double %s153, %r154
  %r155 = load double, ptr %p155
  %s155 = fadd double %s154, %r155
  %r156 = load double, ptr %p156
  %s156 = fadd double %s155, %r156
  %r157 = load double, ptr %p157
  %s157 = fadd double %s156, %r157
  %r158 = load double, ptr %p158
  %s158 = fadd double %s157, %r158
  %r159 = load double, ptr %p159
  %s159 = fadd double %s158, %r159
  %r160 = load double, ptr %p160
  %s160 = fadd double %s159, %r160
  %r161 = load double, ptr %p161
  %s161 = fadd double %s160, %r161
  %r162 = load double, ptr %p162
  %s162 = fadd double %s161, %r162
  %r163 = load double, ptr %p163
  %s163 = fadd double %s162, %r163
  %r164 = load double, ptr %p164
  %s164 = fadd double %s163, %r164
  %r165 = load double, ptr %p165
  %s165 = fadd double %s164, %r165
  %r166 = load double, ptr %p166
  %s166 = fadd double %s165, %r166
  %r167 = load double, ptr %p167
  %s167 = fadd double %s166, %r167
  %r168 = load double, ptr %p168
  %s168 = fadd double %s167, %r168
  %r169 = load double, ptr %p169
  %s169 = fadd double %s168, %r169
  %r170 = load double, ptr %p170
  %s170 = fadd double %s169, %r170
  %r171 = load double, ptr %p171
  %s171 = fadd double %s170, %r171
  %r172 = load double, ptr %p172
  %s172 = fadd double %s171, %r172
  %r173 = load double, ptr %p173
  %s173 = fadd double %s172, %r173
  %r174 = load double, ptr %p174
  %s174 = fadd double %s173, %r174
  %r175 = load double, ptr %p175
  %s175 = fadd double %s174, %r175
  %r176 = load double, ptr %p176
  %s176 = fadd double %s175, %r176
  %r177 = load double, ptr %p177
  %s177 = fadd double %s176, %r177
  %r178 = load double, ptr %p178
  %s178 = fadd double %s177, %r178
  %r179 = load double, ptr %p179
  %s179 = fadd double %s178, %r179
  %r180 = load double, ptr %p180
  %s180 = fadd double %s179, %r180
  %r181 = load double, ptr %p181
  %s181 = fadd double %s180, %r181
  %r182 = load double, ptr %p182
  %s182 = fadd double %s181, %r182
  %r183 = load double, ptr %p183
  %s183 = fadd double %s182, %r183
  %r184 = load double, ptr %p184
  %s184 = fadd double %s183, %r184
  %r185 = load double, ptr %p185
  %s185 = fadd double %s184, %r185
  %r186 = load double, ptr %p186
  %s186 = fadd double %s185, %r186
  %r187 = load double, ptr %p187
  %s187 = fadd double %s186, %r187
  %r188 = load double, ptr %p188
  %s188 = fadd double %s187, %r188
  %r189 = load double, ptr %p189
  %s189 = fadd double %s188, %r189
  %r190 = load double, ptr %p190
  %s190 = fadd double %s189, %r190
  %r191 = load double, ptr %p191
  %s191 = fadd double %s190, %r191
  %r192 = load double, ptr %p192
  %s192 = fadd double %s191, %r192
  %r193 = load double, ptr %p193
  %s193 = fadd double %s192, %r193
  %r194 = load double, ptr %p194
  %s194 = fadd double %s193, %r194
  %r195 = load double, ptr %p195
  %s195 = fadd double %s194, %r195
  %r196 = load double, ptr %p196
  %s196 = fadd double %s195, %r196
  %r197 = load double, ptr %p197
  %s197 = fadd double %s196, %r197
  %r198 = load double, ptr %p198
  %s198 = fadd double %s197, %r198
  %r199 = load double, ptr %p199
  %s199 = fadd double %s198, %r199
  %r200 = load double, ptr %p200
  %s200 = fadd double %s199, %r200
  %r201 = load double, ptr %p201
  %s201 = fadd double %s200, %r201
  %r202 = load double, ptr %p202
  %s202 = fadd double %s201, %r202
  %r203 = load double, ptr %p203
  %s203 = fadd double %s202, %r203
  %r204 = load double, ptr %p204
  %s204 = fadd double %s203, %r204
  %r205 = load double, ptr %p205
  %s205 = fadd double %s204, %r205
  %r206 = load double, ptr %p206
  %s206 = fadd double %s205, %r206
  %r207 = load double, ptr %p207
  %s207 = fadd double %s206, %r207
  %r208 = load double, ptr %p208
  %s208 = fadd double %s207, %r208
  %r209 = load double, ptr %p209
  %s209 = fadd double %s208, %r209
  %r210 = load double, ptr %p210
  %s210 = fadd double %s209, %r210
  %r211 = load double, ptr %p211
  %s211 = fadd double %s210, %r211
  %r212 = load double, ptr %p212
  %s212 = fadd double %s211, %r212
  %r213 = load double, ptr %p213
  %s213 = fadd double %s212, %r213
  %r214 = load double, ptr %p214
  %s214 = fadd double %s213, %r214
  %r215 = load double, ptr %p215
  %s215 = fadd double %s214, %r215
  %r216 = load double, ptr %p216
  %s216 = fadd double %s215, %r216
  %r217 = load double, ptr %p217
  %s217 = fadd double %s216, %r217
  %r218 = load double, ptr %p218
  %s218 = fadd double %s217, %r218
  %r219 = load double, ptr %p219
  %s219 = fadd double %s218, %r219
  %r220 = load double, ptr %p220
  %s220 = fadd double %s219, %r220
  %r221 = load double, ptr %p221
  %s221 = fadd double %s220, %r221
  %r222 = load double, ptr %p222
  %s222 = fadd double %s221, %r222
  %r223 = load double, ptr %p223
  %s223 = fadd double %s222, %r223
  %r224 = load double, ptr %p224
  %s224 = fadd double %s223, %r224
  %r225 = load double, ptr %p225
  %s225 = fadd double %s224, %r225
  %r226 = load double, ptr %p226
  %s226 = fadd double %s225, %r226
  %r227 = load double, ptr %p227
  %s227 = fadd double %s226, %r227
  %r228 = load double, ptr %p228
  %s228 = fadd double %s227, %r228
  %r229 = load double, ptr %p229
  %s229 = fadd double %s228, %r229
  %r230 = load double, ptr %p230
  %s230 = fadd double %s229, %r230
  %r231 = load double, ptr %p231
  %s231 = fadd double %s230, %r231
  %r232 = load double, ptr %p232
  %s232 = fadd double %s231, %r232
  %r233 = load double, ptr %p233
  %s233 = fadd double %s232, %r233
  %r234 = load double, ptr %p234
  %s234 = fadd double %s233, %r234
  %r235 = load double, ptr %p235
  %s235 = fadd double %s234, %r235
  %r236 = load double, ptr %p236
  %s236 = fadd double %s235, %r236
  %r237 = load double, ptr %p237
  %s237 = fadd double %s236, %r237
  %r238 = load double, ptr %p238
  %s238 = fadd double %s237, %r238
  %r239 = load double, ptr %p239
  %s239 = fadd double %s238, %r239
  %r240 = load double, ptr %p240
  %s240 = fadd double %s239, %r240
  %r241 = load double, ptr %p241
  %s241 = fadd double %s240, %r241
  %r242 = load double, ptr %p242
  %s242 = fadd double %s241, %r242
  %r243 = load double, ptr %p243
  %s243 = fadd double %s242, %r243
  %r244 = load double, ptr %p244
  %s244 = fadd double %s243, %r244
  %r245 = load double, ptr %p245
  %s245 = fadd double %s244, %r245
  %r246 = load double, ptr %p246
  %s246 = fadd double %s245, %r246
  %r247 = load double, ptr %p247
  %s247 = fadd double %s246, %r247
  %r248 = load double, ptr %p248
  %s248 = fadd double %s247, %r248
  %r249 = load double, ptr %p249
  %s249 = fadd double %s248, %r249
  %r250 = load double, ptr %p250
  %s250 = fadd double %s249, %r250
  %r251 = load double, ptr %p251
  %s251 = fadd double %s250, %r251
  %r252 = load double, ptr %p252
  %s252 = fadd double %s251, %r252
  %r253 = load double, ptr %p253
  %s253 = fadd double %s252, %r253
  %r254 = load double, ptr %p254
  %s254 = fadd double %s253, %r254
  %r255 = load double, ptr %p255
  %s255 = fadd double %s254, %r255
  %r256 = load double, ptr %p256
  %s256 = fadd double %s255, %r256
  %r257 = load double, ptr %p257
  %s257 = fadd double %s256, %r257
  %r258 = load double, ptr %p258
  %s258 = fadd double %s257, %r258
  %r259 = load double, ptr %p259
  %s259 = fadd double %s258, %r259
  ret double %s259
}

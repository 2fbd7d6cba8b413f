define double @ffgrad_vjp(double %x, i1 %early, i1 %again) {
entry:
  %p0 = alloca double, align 8
  %p1 = alloca double, align 8
  %p2 = alloca double, align 8
  %p3 = alloca double, align 8
  %p4 = alloca double, align 8
  %p5 = alloca double, align 8
  %p6 = alloca double, align 8
  %p7 = alloca double, align 8
  %p8 = alloca double, align 8
  %p9 = alloca double, align 8
  %p10 = alloca double, align 8
  %p11 = alloca double, align 8
  %p12 = alloca double, align 8
  %p13 = alloca double, align 8
  %p14 = alloca double, align 8
  %p15 = alloca double, align 8
  %p16 = alloca double, align 8
  %p17 = alloca double, align 8
  %p18 = alloca double, align 8
  %p19 = alloca double, align 8
  %p20 = alloca double, align 8
  %p21 = alloca double, align 8
  %p22 = alloca double, align 8
  %p23 = alloca double, align 8
  %p24 = alloca double, align 8
  %p25 = alloca double, align 8
  %p26 = alloca double, align 8
  %p27 = alloca double, align 8
  %p28 = alloca double, align 8
  %p29 = alloca double, align 8
  %p30 = alloca double, align 8
  %p31 = alloca double, align 8
  %p32 = alloca double, align 8
  %p33 = alloca double, align 8
  %p34 = alloca double, align 8
  %p35 = alloca double, align 8
  %p36 = alloca double, align 8
  %p37 = alloca double, align 8
  %p38 = alloca double, align 8
  %p39 = alloca double, align 8
  %p40 = alloca double, align 8
  %p41 = alloca double, align 8
  %p42 = alloca double, align 8
  %p43 = alloca double, align 8
  %p44 = alloca double, align 8
  %p45 = alloca double, align 8
  %p46 = alloca double, align 8
  %p47 = alloca double, align 8
  %p48 = alloca double, align 8
  %p49 = alloca double, align 8
  %p50 = alloca double, align 8
  %p51 = alloca double, align 8
  %p52 = alloca double, align 8
  %p53 = alloca double, align 8
  %p54 = alloca double, align 8
  %p55 = alloca double, align 8
  %p56 = alloca double, align 8
  %p57 = alloca double, align 8
  %p58 = alloca double, align 8
  %p59 = alloca double, align 8
  %p60 = alloca double, align 8
  %p61 = alloca double, align 8
  %p62 = alloca double, align 8
  %p63 = alloca double, align 8
  %p64 = alloca double, align 8
  %p65 = alloca double, align 8
  %p66 = alloca double, align 8
  %p67 = alloca double, align 8
  %p68 = alloca double, align 8
  %p69 = alloca double, align 8
  %p70 = alloca double, align 8
  %p71 = alloca double, align 8
  %p72 = alloca double, align 8
  %p73 = alloca double, align 8
  %p74 = alloca double, align 8
  %p75 = alloca double, align 8
  %p76 = alloca double, align 8
  %p77 = alloca double, align 8
  %p78 = alloca double, align 8
  %p79 = alloca double, align 8
  %p80 = alloca double, align 8
  %p81 = alloca double, align 8
  %p82 = alloca double, align 8
  %p83 = alloca double, align 8
  %p84 = alloca double, align 8
  %p85 = alloca double, align 8
  %p86 = alloca double, align 8
  %p87 = alloca double, align 8
  %p88 = alloca double, align 8
  %p89 = alloca double, align 8
  %p90 = alloca double, align 8
  %p91 = alloca double, align 8
  %p92 = alloca double, align 8
  %p93 = alloca double, align 8
  %p94 = alloca double, align 8
  %p95 = alloca double, align 8
  %p96 = alloca double, align 8
  %p97 = alloca double, align 8
  %p98 = alloca double, align 8
  %p99 = alloca double, align 8
  %p100 = alloca double, align 8
  %p101 = alloca double, align 8
  %p102 = alloca double, align 8
  %p103 = alloca double, align 8
  %p104 = alloca double, align 8
  %p105 = alloca double, align 8
  %p106 = alloca double, align 8
  %p107 = alloca double, align 8
  %p108 = alloca double, align 8
  %p109 = alloca double, align 8
  %p110 = alloca double, align 8
  %p111 = alloca double, align 8
  %p112 = alloca double, align 8
  %p113 = alloca double, align 8
  %p114 = alloca double, align 8
  %p115 = alloca double, align 8
  %p116 = alloca double, align 8
  %p117 = alloca double, align 8
  %p118 = alloca double, align 8
  %p119 = alloca double, align 8
  %p120 = alloca double, align 8
  %p121 = alloca double, align 8
  %p122 = alloca double, align 8
  %p123 = alloca double, align 8
  %p124 = alloca double, align 8
  %p125 = alloca double, align 8
  %p126 = alloca double, align 8
  %p127 = alloca double, align 8
  %p128 = alloca double, align 8
  %p129 = alloca double, align 8
  %p130 = alloca double, align 8
  %p131 = alloca double, align 8
  %p132 = alloca double, align 8
  %p133 = alloca double, align 8
  %p134 = alloca double, align 8
  %p135 = alloca double, align 8
  %p136 = alloca double, align 8
  %p137 = alloca double, align 8
  %p138 = alloca double, align 8
  %p139 = alloca double, align 8
  %p140 = alloca double, align 8
  %p141 = alloca double, align 8
  %p142 = alloca double, align 8
  %p143 = alloca double, align 8
  %p144 = alloca double, align 8
  %p145 = alloca double, align 8
  %p146 = alloca double, align 8
  %p147 = alloca double, align 8
  %p148 = alloca double, align 8
  %p149 = alloca double, align 8
  %p150 = alloca double, align 8
  %p151 = alloca double, align 8
  %p152 = alloca double, align 8
  %p153 = alloca double, align 8
  %p154 = alloca double, align 8
  %p155 = alloca double, align 8
  %p156 = alloca double, align 8
  %p157 = alloca double, align 8
  %p158 = alloca double, align 8
  %p159 = alloca double, align 8
  %p160 = alloca double, align 8
  %p161 = alloca double, align 8
  %p162 = alloca double, align 8
  %p163 = alloca double, align 8
  %p164 = alloca double, align 8
  %p165 = alloca double, align 8
  %p166 = alloca double, align 8
  %p167 = alloca double, align 8
  %p168 = alloca double, align 8
  %p169 = alloca double, align 8
  %p170 = alloca double, align 8
  %p171 = alloca double, align 8
  %p172 = alloca double, align 8
  %p173 = alloca double, align 8
  %p174 = alloca double, align 8
  %p175 = alloca double, align 8
  %p176 = alloca double, align 8
  %p177 = alloca double, align 8
  %p178 = alloca double, align 8
  %p179 = alloca double, align 8
  %p180 = alloca double, align 8
  %p181 = alloca double, align 8
  %p182 = alloca double, align 8
  %p183 = alloca double, align 8
  %p184 = alloca double, align 8
  %p185 = alloca double, align 8
  %p186 = alloca double, align 8
  %p187 = alloca double, align 8
  %p188 = alloca double, align 8
  %p189 = alloca double, align 8
  %p190 = alloca double, align 8
  %p191 = alloca double, align 8
  %p192 = alloca double, align 8
  %p193 = alloca double, align 8
  %p194 = alloca double, align 8
  %p195 = alloca double, align 8
  %p196 = alloca double, align 8
  %p197 = alloca double, align 8
  %p198 = alloca double, align 8
  %p199 = alloca double, align 8
  %p200 = alloca double, align 8
  %p201 = alloca double, align 8
  %p202 = alloca double, align 8
  %p203 = alloca double, align 8
  %p204 = alloca double, align 8
  %p205 = alloca double, align 8
  %p206 = alloca double, align 8
  %p207 = alloca double, align 8
  %p208 = alloca double, align 8
  %p209 = alloca double, align 8
  %p210 = alloca double, align 8
  %p211 = alloca double, align 8
  %p212 = alloca double, align 8
  %p213 = alloca double, align 8
  %p214 = alloca double, align 8
  %p215 = alloca double, align 8
  %p216 = alloca double, align 8
  %p217 = alloca double, align 8
  %p218 = alloca double, align 8
  %p219 = alloca double, align 8
  %p220 = alloca double, align 8
  %p221 = alloca double, align 8
  %p222 = alloca double, align 8
  %p223 = alloca double, align 8
  %p224 = alloca double, align 8
  %p225 = alloca double, align 8
  %p226 = alloca double, align 8
  %p227 = alloca double, align 8
  %p228 = alloca double, align 8
  %p229 = alloca double, align 8
  %p230 = alloca double, align 8
  %p231 = alloca double, align 8
  %p232 = alloca double, align 8
  %p233 = alloca double, align 8
  %p234 = alloca double, align 8
  %p235 = alloca double, align 8
  %p236 = alloca double, align 8
  %p237 = alloca double, align 8
  %p238 = alloca double, align 8
  %p239 = alloca double, align 8
  %p240 = alloca double, align 8
  %p241 = alloca double, align 8
  %p242 = alloca double, align 8
  %p243 = alloca double, align 8
  %p244 = alloca double, align 8
  %p245 = alloca double, align 8
  %p246 = alloca double, align 8
  %p247 = alloca double, align 8
  %p248 = alloca double, align 8
  %p249 = alloca double, align 8
  %p250 = alloca double, align 8
  %p251 = alloca double, align 8
  %p252 = alloca double, align 8
  %p253 = alloca double, align 8
  %p254 = alloca double, align 8
  %p255 = alloca double, align 8
  %p256 = alloca double, align 8
  %p257 = alloca double, align 8
  %p258 = alloca double, align 8
  %p259 = alloca double, align 8
  br i1 %early, label %end, label %loop

loop:                                             ; preds = %loop, %entry
  %inner.0 = phi double [ %x, %entry ], [ %w, %loop ]
  %w = fmul double %inner.0, %x
  br i1 %again, label %loop, label %fill

fill:                                             ; preds = %loop
  store volatile double %w, ptr %p0, align 8
  store volatile double %w, ptr %p1, align 8
  store volatile double %w, ptr %p2, align 8
  store volatile double %w, ptr %p3, align 8
  store volatile double %w, ptr %p4, align 8
  store volatile double %w, ptr %p5, align 8
  store volatile double %w, ptr %p6, align 8
  store volatile double %w, ptr %p7, align 8
  store volatile double %w, ptr %p8, align 8
  store volatile double %w, ptr %p9, align 8
  store volatile double %w, ptr %p10, align 8
  store volatile double %w, ptr %p11, align 8
  store volatile double %w, ptr %p12, align 8
  store volatile double %w, ptr %p13, align 8
  store volatile double %w, ptr %p14, align 8
  store volatile double %w, ptr %p15, align 8
  store volatile double %w, ptr %p16, align 8
  store volatile double %w, ptr %p17, align 8
  store volatile double %w, ptr %p18, align 8
  store volatile double %w, ptr %p19, align 8
  store volatile double %w, ptr %p20, align 8
  store volatile double %w, ptr %p21, align 8
  store volatile double %w, ptr %p22, align 8
  store volatile double %w, ptr %p23, align 8
  store volatile double %w, ptr %p24, align 8
  store volatile double %w, ptr %p25, align 8
  store volatile double %w, ptr %p26, align 8
  store volatile double %w, ptr %p27, align 8
  store volatile double %w, ptr %p28, align 8
  store volatile double %w, ptr %p29, align 8
  store volatile double %w, ptr %p30, align 8
  store volatile double %w, ptr %p31, align 8
  store volatile double %w, ptr %p32, align 8
  store volatile double %w, ptr %p33, align 8
  store volatile double %w, ptr %p34, align 8
  store volatile double %w, ptr %p35, align 8
  store volatile double %w, ptr %p36, align 8
  store volatile double %w, ptr %p37, align 8
  store volatile double %w, ptr %p38, align 8
  store volatile double %w, ptr %p39, align 8
  store volatile double %w, ptr %p40, align 8
  store volatile double %w, ptr %p41, align 8
  store volatile double %w, ptr %p42, align 8
  store volatile double %w, ptr %p43, align 8
  store volatile double %w, ptr %p44, align 8
  store volatile double %w, ptr %p45, align 8
  store volatile double %w, ptr %p46, align 8
  store volatile double %w, ptr %p47, align 8
  store volatile double %w, ptr %p48, align 8
  store volatile double %w, ptr %p49, align 8
  store volatile double %w, ptr %p50, align 8
  store volatile double %w, ptr %p51, align 8
  store volatile double %w, ptr %p52, align 8
  store volatile double %w, ptr %p53, align 8
  store volatile double %w, ptr %p54, align 8
  store volatile double %w, ptr %p55, align 8
  store volatile double %w, ptr %p56, align 8
  store volatile double %w, ptr %p57, align 8
  store volatile double %w, ptr %p58, align 8
  store volatile double %w, ptr %p59, align 8
  store volatile double %w, ptr %p60, align 8
  store volatile double %w, ptr %p61, align 8
  store volatile double %w, ptr %p62, align 8
  store volatile double %w, ptr %p63, align 8
  store volatile double %w, ptr %p64, align 8
  store volatile double %w, ptr %p65, align 8
  store volatile double %w, ptr %p66, align 8
  store volatile double %w, ptr %p67, align 8
  store volatile double %w, ptr %p68, align 8
  store volatile double %w, ptr %p69, align 8
  store volatile double %w, ptr %p70, align 8
  store volatile double %w, ptr %p71, align 8
  store volatile double %w, ptr %p72, align 8
  store volatile double %w, ptr %p73, align 8
  store volatile double %w, ptr %p74, align 8
  store volatile double %w, ptr %p75, align 8
  store volatile double %w, ptr %p76, align 8
  store volatile double %w, ptr %p77, align 8
  store volatile double %w, ptr %p78, align 8
  store volatile double %w, ptr %p79, align 8
  store volatile double %w, ptr %p80, align 8
  store volatile double %w, ptr %p81, align 8
  store volatile double %w, ptr %p82, align 8
  store volatile double %w, ptr %p83, align 8
  store volatile double %w, ptr %p84, align 8
  store volatile double %w, ptr %p85, align 8
  store volatile double %w, ptr %p86, align 8
  store volatile double %w, ptr %p87, align 8
  store volatile double %w, ptr %p88, align 8
  store volatile double %w, ptr %p89, align 8
  store volatile double %w, ptr %p90, align 8
  store volatile double %w, ptr %p91, align 8
  store volatile double %w, ptr %p92, align 8
  store volatile double %w, ptr %p93, align 8
  store volatile double %w, ptr %p94, align 8
  store volatile double %w, ptr %p95, align 8
  store volatile double %w, ptr %p96, align 8
  store volatile double %w, ptr %p97, align 8
  store volatile double %w, ptr %p98, align 8
  store volatile double %w, ptr %p99, align 8
  store volatile double %w, ptr %p100, align 8
  store volatile double %w, ptr %p101, align 8
  store volatile double %w, ptr %p102, align 8
  store volatile double %w, ptr %p103, align 8
  store volatile double %w, ptr %p104, align 8
  store volatile double %w, ptr %p105, align 8
  store volatile double %w, ptr %p106, align 8
  store volatile double %w, ptr %p107, align 8
  store volatile double %w, ptr %p108, align 8
  store volatile double %w, ptr %p109, align 8
  store volatile double %w, ptr %p110, align 8
  store volatile double %w, ptr %p111, align 8
  store volatile double %w, ptr %p112, align 8
  store volatile double %w, ptr %p113, align 8
  store volatile double %w, ptr %p114, align 8
  store volatile double %w, ptr %p115, align 8
  store volatile double %w, ptr %p116, align 8
  store volatile double %w, ptr %p117, align 8
  store volatile double %w, ptr %p118, align 8
  store volatile double %w, ptr %p119, align 8
  store volatile double %w, ptr %p120, align 8
  store volatile double %w, ptr %p121, align 8
  store volatile double %w, ptr %p122, align 8
  store volatile double %w, ptr %p123, align 8
  store volatile double %w, ptr %p124, align 8
  store volatile double %w, ptr %p125, align 8
  store volatile double %w, ptr %p126, align 8
  store volatile double %w, ptr %p127, align 8
  store volatile double %w, ptr %p128, align 8
  store volatile double %w, ptr %p129, align 8
  store volatile double %w, ptr %p130, align 8
  store volatile double %w, ptr %p131, align 8
  store volatile double %w, ptr %p132, align 8
  store volatile double %w, ptr %p133, align 8
  store volatile double %w, ptr %p134, align 8
  store volatile double %w, ptr %p135, align 8
  store volatile double %w, ptr %p136, align 8
  store volatile double %w, ptr %p137, align 8
  store volatile double %w, ptr %p138, align 8
  store volatile double %w, ptr %p139, align 8
  store volatile double %w, ptr %p140, align 8
  store volatile double %w, ptr %p141, align 8
  store volatile double %w, ptr %p142, align 8
  store volatile double %w, ptr %p143, align 8
  store volatile double %w, ptr %p144, align 8
  store volatile double %w, ptr %p145, align 8
  store volatile double %w, ptr %p146, align 8
  store volatile double %w, ptr %p147, align 8
  store volatile double %w, ptr %p148, align 8
  store volatile double %w, ptr %p149, align 8
  store volatile double %w, ptr %p150, align 8
  store volatile double %w, ptr %p151, align 8
  store volatile double %w, ptr %p152, align 8
  store volatile double %w, ptr %p153, align 8
  store volatile double %w, ptr %p154, align 8
  store volatile double %w, ptr %p155, align 8
  store volatile double %w, ptr %p156, align 8
  store volatile double %w, ptr %p157, align 8
  store volatile double %w, ptr %p158, align 8
  store volatile double %w, ptr %p159, align 8
  store volatile double %w, ptr %p160, align 8
  store volatile double %w, ptr %p161, align 8
  store volatile double %w, ptr %p162, align 8
  store volatile double %w, ptr %p163, align 8
  store volatile double %w, ptr %p164, align 8
  store volatile double %w, ptr %p165, align 8
  store volatile double %w, ptr %p166, align 8
  store volatile double %w, ptr %p167, align 8
  store volatile double %w, ptr %p168, align 8
  store volatile double %w, ptr %p169, align 8
  store volatile double %w, ptr %p170, align 8
  store volatile double %w, ptr %p171, align 8
  store volatile double %w, ptr %p172, align 8
  store volatile double %w, ptr %p173, align 8
  store volatile double %w, ptr %p174, align 8
  store volatile double %w, ptr %p175, align 8
  store volatile double %w, ptr %p176, align 8
  store volatile double %w, ptr %p177, align 8
  store volatile double %w, ptr %p178, align 8
  store volatile double %w, ptr %p179, align 8
  store volatile double %w, ptr %p180, align 8
  store volatile double %w, ptr %p181, align 8
  store volatile double %w, ptr %p182, align 8
  store volatile double %w, ptr %p183, align 8
  store volatile double %w, ptr %p184, align 8
  store volatile double %w, ptr %p185, align 8
  store volatile double %w, ptr %p186, align 8
  store volatile double %w, ptr %p187, align 8
  store volatile double %w, ptr %p188, align 8
  store volatile double %w, ptr %p189, align 8
  store volatile double %w, ptr %p190, align 8
  store volatile double %w, ptr %p191, align 8
  store volatile double %w, ptr %p192, align 8
  store volatile double %w, ptr %p193, align 8
  store volatile double %w, ptr %p194, align 8
  store volatile double %w, ptr %p195, align 8
  store volatile double %w, ptr %p196, align 8
  store volatile double %w, ptr %p197, align 8
  store volatile double %w, ptr %p198, align 8
  store volatile double %w, ptr %p199, align 8
  store volatile double %w, ptr %p200, align 8
  store volatile double %w, ptr %p201, align 8
  store volatile double %w, ptr %p202, align 8
  store volatile double %w, ptr %p203, align 8
  store volatile double %w, ptr %p204, align 8
  store volatile double %w, ptr %p205, align 8
  store volatile double %w, ptr %p206, align 8
  store volatile double %w, ptr %p207, align 8
  store volatile double %w, ptr %p208, align 8
  store volatile double %w, ptr %p209, align 8
  store volatile double %w, ptr %p210, align 8
  store volatile double %w, ptr %p211, align 8
  store volatile double %w, ptr %p212, align 8
  store volatile double %w, ptr %p213, align 8
  store volatile double %w, ptr %p214, align 8
  store volatile double %w, ptr %p215, align 8
  store volatile double %w, ptr %p216, align 8
  store volatile double %w, ptr %p217, align 8
  store volatile double %w, ptr %p218, align 8
  store volatile double %w, ptr %p219, align 8
  store volatile double %w, ptr %p220, align 8
  store volatile double %w, ptr %p221, align 8
  store volatile double %w, ptr %p222, align 8
  store volatile double %w, ptr %p223, align 8
  store volatile double %w, ptr %p224, align 8
  store volatile double %w, ptr %p225, align 8
  store volatile double %w, ptr %p226, align 8
  store volatile double %w, ptr %p227, align 8
  store volatile double %w, ptr %p228, align 8
  store volatile double %w, ptr %p229, align 8
  store volatile double %w, ptr %p230, align 8
  store volatile double %w, ptr %p231, align 8
  store volatile double %w, ptr %p232, align 8
  store volatile double %w, ptr %p233, align 8
  store volatile double %w, ptr %p234, align 8
  store volatile double %w, ptr %p235, align 8
  store volatile double %w, ptr %p236, align 8
  store volatile double %w, ptr %p237, align 8
  store volatile double %w, ptr %p238, align 8
  store volatile double %w, ptr %p239, align 8
  store volatile double %w, ptr %p240, align 8
  store volatile double %w, ptr %p241, align 8
  store volatile double %w, ptr %p242, align 8
  store volatile double %w, ptr %p243, align 8
  store volatile double %w, ptr %p244, align 8
  store volatile double %w, ptr %p245, align 8
  store volatile double %w, ptr %p246, align 8
  store volatile double %w, ptr %p247, align 8
  store volatile double %w, ptr %p248, align 8
  store volatile double %w, ptr %p249, align 8
  store volatile double %w, ptr %p250, align 8
  store volatile double %w, ptr %p251, align 8
  store volatile double %w, ptr %p252, align 8
  store volatile double %w, ptr %p253, align 8
  store volatile double %w, ptr %p254, align 8
  store volatile double %w, ptr %p255, align 8
  store volatile double %w, ptr %p256, align 8
  store volatile double %w, ptr %p257, align 8
  store volatile double %w, ptr %p258, align 8
  store volatile double %w, ptr %p259, align 8
  br label %end

end:                                              ; preds = %fill, %entry
  %p0.0.s0 = load volatile double, ptr %p0, align 8
  %p1.0.r1 = load volatile double, ptr %p1, align 8
  %s1 = fadd double %p0.0.s0, %p1.0.r1
  %p2.0.r2 = load volatile double, ptr %p2, align 8
  %s2 = fadd double %s1, %p2.0.r2
  %p3.0.r3 = load volatile double, ptr %p3, align 8
  %s3 = fadd double %s2, %p3.0.r3
  %p4.0.r4 = load volatile double, ptr %p4, align 8
  %s4 = fadd double %s3, %p4.0.r4
  %p5.0.r5 = load volatile double, ptr %p5, align 8
  %s5 = fadd double %s4, %p5.0.r5
  %p6.0.r6 = load volatile double, ptr %p6, align 8
  %s6 = fadd double %s5, %p6.0.r6
  %p7.0.r7 = load volatile double, ptr %p7, align 8
  %s7 = fadd double %s6, %p7.0.r7
  %p8.0.r8 = load volatile double, ptr %p8, align 8
  %s8 = fadd double %s7, %p8.0.r8
  %p9.0.r9 = load volatile double, ptr %p9, align 8
  %s9 = fadd double %s8, %p9.0.r9
  %p10.0.r10 = load volatile double, ptr %p10, align 8
  %s10 = fadd double %s9, %p10.0.r10
  %p11.0.r11 = load volatile double, ptr %p11, align 8
  %s11 = fadd double %s10, %p11.0.r11
  %p12.0.r12 = load volatile double, ptr %p12, align 8
  %s12 = fadd double %s11, %p12.0.r12
  %p13.0.r13 = load volatile double, ptr %p13, align 8
  %s13 = fadd double %s12, %p13.0.r13
  %p14.0.r14 = load volatile double, ptr %p14, align 8
  %s14 = fadd double %s13, %p14.0.r14
  %p15.0.r15 = load volatile double, ptr %p15, align 8
  %s15 = fadd double %s14, %p15.0.r15
  %p16.0.r16 = load volatile double, ptr %p16, align 8
  %s16 = fadd double %s15, %p16.0.r16
  %p17.0.r17 = load volatile double, ptr %p17, align 8
  %s17 = fadd double %s16, %p17.0.r17
  %p18.0.r18 = load volatile double, ptr %p18, align 8
  %s18 = fadd double %s17, %p18.0.r18
  %p19.0.r19 = load volatile double, ptr %p19, align 8
  %s19 = fadd double %s18, %p19.0.r19
  %p20.0.r20 = load volatile double, ptr %p20, align 8
  %s20 = fadd double %s19, %p20.0.r20
  %p21.0.r21 = load volatile double, ptr %p21, align 8
  %s21 = fadd double %s20, %p21.0.r21
  %p22.0.r22 = load volatile double, ptr %p22, align 8
  %s22 = fadd double %s21, %p22.0.r22
  %p23.0.r23 = load volatile double, ptr %p23, align 8
  %s23 = fadd double %s22, %p23.0.r23
  %p24.0.r24 = load volatile double, ptr %p24, align 8
  %s24 = fadd double %s23, %p24.0.r24
  %p25.0.r25 = load volatile double, ptr %p25, align 8
  %s25 = fadd double %s24, %p25.0.r25
  %p26.0.r26 = load volatile double, ptr %p26, align 8
  %s26 = fadd double %s25, %p26.0.r26
  %p27.0.r27 = load volatile double, ptr %p27, align 8
  %s27 = fadd double %s26, %p27.0.r27
  %p28.0.r28 = load volatile double, ptr %p28, align 8
  %s28 = fadd double %s27, %p28.0.r28
  %p29.0.r29 = load volatile double, ptr %p29, align 8
  %s29 = fadd double %s28, %p29.0.r29
  %p30.0.r30 = load volatile double, ptr %p30, align 8
  %s30 = fadd double %s29, %p30.0.r30
  %p31.0.r31 = load volatile double, ptr %p31, align 8
  %s31 = fadd double %s30, %p31.0.r31
  %p32.0.r32 = load volatile double, ptr %p32, align 8
  %s32 = fadd double %s31, %p32.0.r32
  %p33.0.r33 = load volatile double, ptr %p33, align 8
  %s33 = fadd double %s32, %p33.0.r33
  %p34.0.r34 = load volatile double, ptr %p34, align 8
  %s34 = fadd double %s33, %p34.0.r34
  %p35.0.r35 = load volatile double, ptr %p35, align 8
  %s35 = fadd double %s34, %p35.0.r35
  %p36.0.r36 = load volatile double, ptr %p36, align 8
  %s36 = fadd double %s35, %p36.0.r36
  %p37.0.r37 = load volatile double, ptr %p37, align 8
  %s37 = fadd double %s36, %p37.0.r37
  %p38.0.r38 = load volatile double, ptr %p38, align 8
  %s38 = fadd double %s37, %p38.0.r38
  %p39.0.r39 = load volatile double, ptr %p39, align 8
  %s39 = fadd double %s38, %p39.0.r39
  %p40.0.r40 = load volatile double, ptr %p40, align 8
  %s40 = fadd double %s39, %p40.0.r40
  %p41.0.r41 = load volatile double, ptr %p41, align 8
  %s41 = fadd double %s40, %p41.0.r41
  %p42.0.r42 = load volatile double, ptr %p42, align 8
  %s42 = fadd double %s41, %p42.0.r42
  %p43.0.r43 = load volatile double, ptr %p43, align 8
  %s43 = fadd double %s42, %p43.0.r43
  %p44.0.r44 = load volatile double, ptr %p44, align 8
  %s44 = fadd double %s43, %p44.0.r44
  %p45.0.r45 = load volatile double, ptr %p45, align 8
  %s45 = fadd double %s44, %p45.0.r45
  %p46.0.r46 = load volatile double, ptr %p46, align 8
  %s46 = fadd double %s45, %p46.0.r46
  %p47.0.r47 = load volatile double, ptr %p47, align 8
  %s47 = fadd double %s46, %p47.0.r47
  %p48.0.r48 = load volatile double, ptr %p48, align 8
  %s48 = fadd double %s47, %p48.0.r48
  %p49.0.r49 = load volatile double, ptr %p49, align 8
  %s49 = fadd double %s48, %p49.0.r49
  %p50.0.r50 = load volatile double, ptr %p50, align 8
  %s50 = fadd double %s49, %p50.0.r50
  %p51.0.r51 = load volatile double, ptr %p51, align 8
  %s51 = fadd double %s50, %p51.0.r51
  %p52.0.r52 = load volatile double, ptr %p52, align 8
  %s52 = fadd double %s51, %p52.0.r52
  %p53.0.r53 = load volatile double, ptr %p53, align 8
  %s53 = fadd double %s52, %p53.0.r53
  %p54.0.r54 = load volatile double, ptr %p54, align 8
  %s54 = fadd double %s53, %p54.0.r54
  %p55.0.r55 = load volatile double, ptr %p55, align 8
  %s55 = fadd double %s54, %p55.0.r55
  %p56.0.r56 = load volatile double, ptr %p56, align 8
  %s56 = fadd double %s55, %p56.0.r56
  %p57.0.r57 = load volatile double, ptr %p57, align 8
  %s57 = fadd double %s56, %p57.0.r57
  %p58.0.r58 = load volatile double, ptr %p58, align 8
  %s58 = fadd double %s57, %p58.0.r58
  %p59.0.r59 = load volatile double, ptr %p59, align 8
  %s59 = fadd double %s58, %p59.0.r59
  %p60.0.r60 = load volatile double, ptr %p60, align 8
  %s60 = fadd double %s59, %p60.0.r60
  %p61.0.r61 = load volatile double, ptr %p61, align 8
  %s61 = fadd double %s60, %p61.0.r61
  %p62.0.r62 = load volatile double, ptr %p62, align 8
  %s62 = fadd double %s61, %p62.0.r62
  %p63.0.r63 = load volatile double, ptr %p63, align 8
  %s63 = fadd double %s62, %p63.0.r63
  %p64.0.r64 = load volatile double, ptr %p64, align 8
  %s64 = fadd double %s63, %p64.0.r64
  %p65.0.r65 = load volatile double, ptr %p65, align 8
  %s65 = fadd double %s64, %p65.0.r65
  %p66.0.r66 = load volatile double, ptr %p66, align 8
  %s66 = fadd double %s65, %p66.0.r66
  %p67.0.r67 = load volatile double, ptr %p67, align 8
  %s67 = fadd double %s66, %p67.0.r67
  %p68.0.r68 = load volatile double, ptr %p68, align 8
  %s68 = fadd double %s67, %p68.0.r68
  %p69.0.r69 = load volatile double, ptr %p69, align 8
  %s69 = fadd double %s68, %p69.0.r69
  %p70.0.r70 = load volatile double, ptr %p70, align 8
  %s70 = fadd double %s69, %p70.0.r70
  %p71.0.r71 = load volatile double, ptr %p71, align 8
  %s71 = fadd double %s70, %p71.0.r71
  %p72.0.r72 = load volatile double, ptr %p72, align 8
  %s72 = fadd double %s71, %p72.0.r72
  %p73.0.r73 = load volatile double, ptr %p73, align 8
  %s73 = fadd double %s72, %p73.0.r73
  %p74.0.r74 = load volatile double, ptr %p74, align 8
  %s74 = fadd double %s73, %p74.0.r74
  %p75.0.r75 = load volatile double, ptr %p75, align 8
  %s75 = fadd double %s74, %p75.0.r75
  %p76.0.r76 = load volatile double, ptr %p76, align 8
  %s76 = fadd double %s75, %p76.0.r76
  %p77.0.r77 = load volatile double, ptr %p77, align 8
  %s77 = fadd double %s76, %p77.0.r77
  %p78.0.r78 = load volatile double, ptr %p78, align 8
  %s78 = fadd double %s77, %p78.0.r78
  %p79.0.r79 = load volatile double, ptr %p79, align 8
  %s79 = fadd double %s78, %p79.0.r79
  %p80.0.r80 = load volatile double, ptr %p80, align 8
  %s80 = fadd double %s79, %p80.0.r80
  %p81.0.r81 = load volatile double, ptr %p81, align 8
  %s81 = fadd double %s80, %p81.0.r81
  %p82.0.r82 = load volatile double, ptr %p82, align 8
  %s82 = fadd double %s81, %p82.0.r82
  %p83.0.r83 = load volatile double, ptr %p83, align 8
  %s83 = fadd double %s82, %p83.0.r83
  %p84.0.r84 = load volatile double, ptr %p84, align 8
  %s84 = fadd double %s83, %p84.0.r84
  %p85.0.r85 = load volatile double, ptr %p85, align 8
  %s85 = fadd double %s84, %p85.0.r85
  %p86.0.r86 = load volatile double, ptr %p86, align 8
  %s86 = fadd double %s85, %p86.0.r86
  %p87.0.r87 = load volatile double, ptr %p87, align 8
  %s87 = fadd double %s86, %p87.0.r87
  %p88.0.r88 = load volatile double, ptr %p88, align 8
  %s88 = fadd double %s87, %p88.0.r88
  %p89.0.r89 = load volatile double, ptr %p89, align 8
  %s89 = fadd double %s88, %p89.0.r89
  %p90.0.r90 = load volatile double, ptr %p90, align 8
  %s90 = fadd double %s89, %p90.0.r90
  %p91.0.r91 = load volatile double, ptr %p91, align 8
  %s91 = fadd double %s90, %p91.0.r91
  %p92.0.r92 = load volatile double, ptr %p92, align 8
  %s92 = fadd double %s91, %p92.0.r92
  %p93.0.r93 = load volatile double, ptr %p93, align 8
  %s93 = fadd double %s92, %p93.0.r93
  %p94.0.r94 = load volatile double, ptr %p94, align 8
  %s94 = fadd double %s93, %p94.0.r94
  %p95.0.r95 = load volatile double, ptr %p95, align 8
  %s95 = fadd double %s94, %p95.0.r95
  %p96.0.r96 = load volatile double, ptr %p96, align 8
  %s96 = fadd double %s95, %p96.0.r96
  %p97.0.r97 = load volatile double, ptr %p97, align 8
  %s97 = fadd double %s96, %p97.0.r97
  %p98.0.r98 = load volatile double, ptr %p98, align 8
  %s98 = fadd double %s97, %p98.0.r98
  %p99.0.r99 = load volatile double, ptr %p99, align 8
  %s99 = fadd double %s98, %p99.0.r99
  %p100.0.r100 = load volatile double, ptr %p100, align 8
  %s100 = fadd double %s99, %p100.0.r100
  %p101.0.r101 = load volatile double, ptr %p101, align 8
  %s101 = fadd double %s100, %p101.0.r101
  %p102.0.r102 = load volatile double, ptr %p102, align 8
  %s102 = fadd double %s101, %p102.0.r102
  %p103.0.r103 = load volatile double, ptr %p103, align 8
  %s103 = fadd double %s102, %p103.0.r103
  %p104.0.r104 = load volatile double, ptr %p104, align 8
  %s104 = fadd double %s103, %p104.0.r104
  %p105.0.r105 = load volatile double, ptr %p105, align 8
  %s105 = fadd double %s104, %p105.0.r105
  %p106.0.r106 = load volatile double, ptr %p106, align 8
  %s106 = fadd double %s105, %p106.0.r106
  %p107.0.r107 = load volatile double, ptr %p107, align 8
  %s107 = fadd double %s106, %p107.0.r107
  %p108.0.r108 = load volatile double, ptr %p108, align 8
  %s108 = fadd double %s107, %p108.0.r108
  %p109.0.r109 = load volatile double, ptr %p109, align 8
  %s109 = fadd double %s108, %p109.0.r109
  %p110.0.r110 = load volatile double, ptr %p110, align 8
  %s110 = fadd double %s109, %p110.0.r110
  %p111.0.r111 = load volatile double, ptr %p111, align 8
  %s111 = fadd double %s110, %p111.0.r111
  %p112.0.r112 = load volatile double, ptr %p112, align 8
  %s112 = fadd double %s111, %p112.0.r112
  %p113.0.r113 = load volatile double, ptr %p113, align 8
  %s113 = fadd double %s112, %p113.0.r113
  %p114.0.r114 = load volatile double, ptr %p114, align 8
  %s114 = fadd double %s113, %p114.0.r114
  %p115.0.r115 = load volatile double, ptr %p115, align 8
  %s115 = fadd double %s114, %p115.0.r115
  %p116.0.r116 = load volatile double, ptr %p116, align 8
  %s116 = fadd double %s115, %p116.0.r116
  %p117.0.r117 = load volatile double, ptr %p117, align 8
  %s117 = fadd double %s116, %p117.0.r117
  %p118.0.r118 = load volatile double, ptr %p118, align 8
  %s118 = fadd double %s117, %p118.0.r118
  %p119.0.r119 = load volatile double, ptr %p119, align 8
  %s119 = fadd double %s118, %p119.0.r119
  %p120.0.r120 = load volatile double, ptr %p120, align 8
  %s120 = fadd double %s119, %p120.0.r120
  %p121.0.r121 = load volatile double, ptr %p121, align 8
  %s121 = fadd double %s120, %p121.0.r121
  %p122.0.r122 = load volatile double, ptr %p122, align 8
  %s122 = fadd double %s121, %p122.0.r122
  %p123.0.r123 = load volatile double, ptr %p123, align 8
  %s123 = fadd double %s122, %p123.0.r123
  %p124.0.r124 = load volatile double, ptr %p124, align 8
  %s124 = fadd double %s123, %p124.0.r124
  %p125.0.r125 = load volatile double, ptr %p125, align 8
  %s125 = fadd double %s124, %p125.0.r125
  %p126.0.r126 = load volatile double, ptr %p126, align 8
  %s126 = fadd double %s125, %p126.0.r126
  %p127.0.r127 = load volatile double, ptr %p127, align 8
  %s127 = fadd double %s126, %p127.0.r127
  %p128.0.r128 = load volatile double, ptr %p128, align 8
  %s128 = fadd double %s127, %p128.0.r128
  %p129.0.r129 = load volatile double, ptr %p129, align 8
  %s129 = fadd double %s128, %p129.0.r129
  %p130.0.r130 = load volatile double, ptr %p130, align 8
  %s130 = fadd double %s129, %p130.0.r130
  %p131.0.r131 = load volatile double, ptr %p131, align 8
  %s131 = fadd double %s130, %p131.0.r131
  %p132.0.r132 = load volatile double, ptr %p132, align 8
  %s132 = fadd double %s131, %p132.0.r132
  %p133.0.r133 = load volatile double, ptr %p133, align 8
  %s133 = fadd double %s132, %p133.0.r133
  %p134.0.r134 = load volatile double, ptr %p134, align 8
  %s134 = fadd double %s133, %p134.0.r134
  %p135.0.r135 = load volatile double, ptr %p135, align 8
  %s135 = fadd double %s134, %p135.0.r135
  %p136.0.r136 = load volatile double, ptr %p136, align 8
  %s136 = fadd double %s135, %p136.0.r136
  %p137.0.r137 = load volatile double, ptr %p137, align 8
  %s137 = fadd double %s136, %p137.0.r137
  %p138.0.r138 = load volatile double, ptr %p138, align 8
  %s138 = fadd double %s137, %p138.0.r138
  %p139.0.r139 = load volatile double, ptr %p139, align 8
  %s139 = fadd double %s138, %p139.0.r139
  %p140.0.r140 = load volatile double, ptr %p140, align 8
  %s140 = fadd double %s139, %p140.0.r140
  %p141.0.r141 = load volatile double, ptr %p141, align 8
  %s141 = fadd double %s140, %p141.0.r141
  %p142.0.r142 = load volatile double, ptr %p142, align 8
  %s142 = fadd double %s141, %p142.0.r142
  %p143.0.r143 = load volatile double, ptr %p143, align 8
  %s143 = fadd double %s142, %p143.0.r143
  %p144.0.r144 = load volatile double, ptr %p144, align 8
  %s144 = fadd double %s143, %p144.0.r144
  %p145.0.r145 = load volatile double, ptr %p145, align 8
  %s145 = fadd double %s144, %p145.0.r145
  %p146.0.r146 = load volatile double, ptr %p146, align 8
  %s146 = fadd double %s145, %p146.0.r146
  %p147.0.r147 = load volatile double, ptr %p147, align 8
  %s147 = fadd double %s146, %p147.0.r147
  %p148.0.r148 = load volatile double, ptr %p148, align 8
  %s148 = fadd double %s147, %p148.0.r148
  %p149.0.r149 = load volatile double, ptr %p149, align 8
  %s149 = fadd double %s148, %p149.0.r149
  %p150.0.r150 = load volatile double, ptr %p150, align 8
  %s150 = fadd double %s149, %p150.0.r150
  %p151.0.r151 = load volatile double, ptr %p151, align 8
  %s151 = fadd double %s150, %p151.0.r151
  %p152.0.r152 = load volatile double, ptr %p152, align 8
  %s152 = fadd double %s151, %p152.0.r152
  %p153.0.r153 = load volatile double, ptr %p153, align 8
  %s153 = fadd double %s152, %p153.0.r153
  %p154.0.r154 = load volatile double, ptr %p154, align 8
  %s154 = fadd double %s153, %p154.0.r154
  %p155.0.r155 = load volatile double, ptr %p155, align 8
  %s155 = fadd double %s154, %p155.0.r155
  %p156.0.r156 = load volatile double, ptr %p156, align 8
  %s156 = fadd double %s155, %p156.0.r156
  %p157.0.r157 = load volatile double, ptr %p157, align 8
  %s157 = fadd double %s156, %p157.0.r157
  %p158.0.r158 = load volatile double, ptr %p158, align 8
  %s158 = fadd double %s157, %p158.0.r158
  %p159.0.r159 = load volatile double, ptr %p159, align 8
  %s159 = fadd double %s158, %p159.0.r159
  %p160.0.r160 = load volatile double, ptr %p160, align 8
  %s160 = fadd double %s159, %p160.0.r160
  %p161.0.r161 = load volatile double, ptr %p161, align 8
  %s161 = fadd double %s160, %p161.0.r161
  %p162.0.r162 = load volatile double, ptr %p162, align 8
  %s162 = fadd double %s161, %p162.0.r162
  %p163.0.r163 = load volatile double, ptr %p163, align 8
  %s163 = fadd double %s162, %p163.0.r163
  %p164.0.r164 = load volatile double, ptr %p164, align 8
  %s164 = fadd double %s163, %p164.0.r164
  %p165.0.r165 = load volatile double, ptr %p165, align 8
  %s165 = fadd double %s164, %p165.0.r165
  %p166.0.r166 = load volatile double, ptr %p166, align 8
  %s166 = fadd double %s165, %p166.0.r166
  %p167.0.r167 = load volatile double, ptr %p167, align 8
  %s167 = fadd double %s166, %p167.0.r167
  %p168.0.r168 = load volatile double, ptr %p168, align 8
  %s168 = fadd double %s167, %p168.0.r168
  %p169.0.r169 = load volatile double, ptr %p169, align 8
  %s169 = fadd double %s168, %p169.0.r169
  %p170.0.r170 = load volatile double, ptr %p170, align 8
  %s170 = fadd double %s169, %p170.0.r170
  %p171.0.r171 = load volatile double, ptr %p171, align 8
  %s171 = fadd double %s170, %p171.0.r171
  %p172.0.r172 = load volatile double, ptr %p172, align 8
  %s172 = fadd double %s171, %p172.0.r172
  %p173.0.r173 = load volatile double, ptr %p173, align 8
  %s173 = fadd double %s172, %p173.0.r173
  %p174.0.r174 = load volatile double, ptr %p174, align 8
  %s174 = fadd double %s173, %p174.0.r174
  %p175.0.r175 = load volatile double, ptr %p175, align 8
  %s175 = fadd double %s174, %p175.0.r175
  %p176.0.r176 = load volatile double, ptr %p176, align 8
  %s176 = fadd double %s175, %p176.0.r176
  %p177.0.r177 = load volatile double, ptr %p177, align 8
  %s177 = fadd double %s176, %p177.0.r177
  %p178.0.r178 = load volatile double, ptr %p178, align 8
  %s178 = fadd double %s177, %p178.0.r178
  %p179.0.r179 = load volatile double, ptr %p179, align 8
  %s179 = fadd double %s178, %p179.0.r179
  %p180.0.r180 = load volatile double, ptr %p180, align 8
  %s180 = fadd double %s179, %p180.0.r180
  %p181.0.r181 = load volatile double, ptr %p181, align 8
  %s181 = fadd double %s180, %p181.0.r181
  %p182.0.r182 = load volatile double, ptr %p182, align 8
  %s182 = fadd double %s181, %p182.0.r182
  %p183.0.r183 = load volatile double, ptr %p183, align 8
  %s183 = fadd double %s182, %p183.0.r183
  %p184.0.r184 = load volatile double, ptr %p184, align 8
  %s184 = fadd double %s183, %p184.0.r184
  %p185.0.r185 = load volatile double, ptr %p185, align 8
  %s185 = fadd double %s184, %p185.0.r185
  %p186.0.r186 = load volatile double, ptr %p186, align 8
  %s186 = fadd double %s185, %p186.0.r186
  %p187.0.r187 = load volatile double, ptr %p187, align 8
  %s187 = fadd double %s186, %p187.0.r187
  %p188.0.r188 = load volatile double, ptr %p188, align 8
  %s188 = fadd double %s187, %p188.0.r188
  %p189.0.r189 = load volatile double, ptr %p189, align 8
  %s189 = fadd double %s188, %p189.0.r189
  %p190.0.r190 = load volatile double, ptr %p190, align 8
  %s190 = fadd double %s189, %p190.0.r190
  %p191.0.r191 = load volatile double, ptr %p191, align 8
  %s191 = fadd double %s190, %p191.0.r191
  %p192.0.r192 = load volatile double, ptr %p192, align 8
  %s192 = fadd double %s191, %p192.0.r192
  %p193.0.r193 = load volatile double, ptr %p193, align 8
  %s193 = fadd double %s192, %p193.0.r193
  %p194.0.r194 = load volatile double, ptr %p194, align 8
  %s194 = fadd double %s193, %p194.0.r194
  %p195.0.r195 = load volatile double, ptr %p195, align 8
  %s195 = fadd double %s194, %p195.0.r195
  %p196.0.r196 = load volatile double, ptr %p196, align 8
  %s196 = fadd double %s195, %p196.0.r196
  %p197.0.r197 = load volatile double, ptr %p197, align 8
  %s197 = fadd double %s196, %p197.0.r197
  %p198.0.r198 = load volatile double, ptr %p198, align 8
  %s198 = fadd double %s197, %p198.0.r198
  %p199.0.r199 = load volatile double, ptr %p199, align 8
  %s199 = fadd double %s198, %p199.0.r199
  %p200.0.r200 = load volatile double, ptr %p200, align 8
  %s200 = fadd double %s199, %p200.0.r200
  %p201.0.r201 = load volatile double, ptr %p201, align 8
  %s201 = fadd double %s200, %p201.0.r201
  %p202.0.r202 = load volatile double, ptr %p202, align 8
  %s202 = fadd double %s201, %p202.0.r202
  %p203.0.r203 = load volatile double, ptr %p203, align 8
  %s203 = fadd double %s202, %p203.0.r203
  %p204.0.r204 = load volatile double, ptr %p204, align 8
  %s204 = fadd double %s203, %p204.0.r204
  %p205.0.r205 = load volatile double, ptr %p205, align 8
  %s205 = fadd double %s204, %p205.0.r205
  %p206.0.r206 = load volatile double, ptr %p206, align 8
  %s206 = fadd double %s205, %p206.0.r206
  %p207.0.r207 = load volatile double, ptr %p207, align 8
  %s207 = fadd double %s206, %p207.0.r207
  %p208.0.r208 = load volatile double, ptr %p208, align 8
  %s208 = fadd double %s207, %p208.0.r208
  %p209.0.r209 = load volatile double, ptr %p209, align 8
  %s209 = fadd double %s208, %p209.0.r209
  %p210.0.r210 = load volatile double, ptr %p210, align 8
  %s210 = fadd double %s209, %p210.0.r210
  %p211.0.r211 = load volatile double, ptr %p211, align 8
  %s211 = fadd double %s210, %p211.0.r211
  %p212.0.r212 = load volatile double, ptr %p212, align 8
  %s212 = fadd double %s211, %p212.0.r212
  %p213.0.r213 = load volatile double, ptr %p213, align 8
  %s213 = fadd double %s212, %p213.0.r213
  %p214.0.r214 = load volatile double, ptr %p214, align 8
  %s214 = fadd double %s213, %p214.0.r214
  %p215.0.r215 = load volatile double, ptr %p215, align 8
  %s215 = fadd double %s214, %p215.0.r215
  %p216.0.r216 = load volatile double, ptr %p216, align 8
  %s216 = fadd double %s215, %p216.0.r216
  %p217.0.r217 = load volatile double, ptr %p217, align 8
  %s217 = fadd double %s216, %p217.0.r217
  %p218.0.r218 = load volatile double, ptr %p218, align 8
  %s218 = fadd double %s217, %p218.0.r218
  %p219.0.r219 = load volatile double, ptr %p219, align 8
  %s219 = fadd double %s218, %p219.0.r219
  %p220.0.r220 = load volatile double, ptr %p220, align 8
  %s220 = fadd double %s219, %p220.0.r220
  %p221.0.r221 = load volatile double, ptr %p221, align 8
  %s221 = fadd double %s220, %p221.0.r221
  %p222.0.r222 = load volatile double, ptr %p222, align 8
  %s222 = fadd double %s221, %p222.0.r222
  %p223.0.r223 = load volatile double, ptr %p223, align 8
  %s223 = fadd double %s222, %p223.0.r223
  %p224.0.r224 = load volatile double, ptr %p224, align 8
  %s224 = fadd double %s223, %p224.0.r224
  %p225.0.r225 = load volatile double, ptr %p225, align 8
  %s225 = fadd double %s224, %p225.0.r225
  %p226.0.r226 = load volatile double, ptr %p226, align 8
  %s226 = fadd double %s225, %p226.0.r226
  %p227.0.r227 = load volatile double, ptr %p227, align 8
  %s227 = fadd double %s226, %p227.0.r227
  %p228.0.r228 = load volatile double, ptr %p228, align 8
  %s228 = fadd double %s227, %p228.0.r228
  %p229.0.r229 = load volatile double, ptr %p229, align 8
  %s229 = fadd double %s228, %p229.0.r229
  %p230.0.r230 = load volatile double, ptr %p230, align 8
  %s230 = fadd double %s229, %p230.0.r230
  %p231.0.r231 = load volatile double, ptr %p231, align 8
  %s231 = fadd double %s230, %p231.0.r231
  %p232.0.r232 = load volatile double, ptr %p232, align 8
  %s232 = fadd double %s231, %p232.0.r232
  %p233.0.r233 = load volatile double, ptr %p233, align 8
  %s233 = fadd double %s232, %p233.0.r233
  %p234.0.r234 = load volatile double, ptr %p234, align 8
  %s234 = fadd double %s233, %p234.0.r234
  %p235.0.r235 = load volatile double, ptr %p235, align 8
  %s235 = fadd double %s234, %p235.0.r235
  %p236.0.r236 = load volatile double, ptr %p236, align 8
  %s236 = fadd double %s235, %p236.0.r236
  %p237.0.r237 = load volatile double, ptr %p237, align 8
  %s237 = fadd double %s236, %p237.0.r237
  %p238.0.r238 = load volatile double, ptr %p238, align 8
  %s238 = fadd double %s237, %p238.0.r238
  %p239.0.r239 = load volatile double, ptr %p239, align 8
  %s239 = fadd double %s238, %p239.0.r239
  %p240.0.r240 = load volatile double, ptr %p240, align 8
  %s240 = fadd double %s239, %p240.0.r240
  %p241.0.r241 = load volatile double, ptr %p241, align 8
  %s241 = fadd double %s240, %p241.0.r241
  %p242.0.r242 = load volatile double, ptr %p242, align 8
  %s242 = fadd double %s241, %p242.0.r242
  %p243.0.r243 = load volatile double, ptr %p243, align 8
  %s243 = fadd double %s242, %p243.0.r243
  %p244.0.r244 = load volatile double, ptr %p244, align 8
  %s244 = fadd double %s243, %p244.0.r244
  %p245.0.r245 = load volatile double, ptr %p245, align 8
  %s245 = fadd double %s244, %p245.0.r245
  %p246.0.r246 = load volatile double, ptr %p246, align 8
  %s246 = fadd double %s245, %p246.0.r246
  %p247.0.r247 = load volatile double, ptr %p247, align 8
  %s247 = fadd double %s246, %p247.0.r247
  %p248.0.r248 = load volatile double, ptr %p248, align 8
  %s248 = fadd double %s247, %p248.0.r248
  %p249.0.r249 = load volatile double, ptr %p249, align 8
  %s249 = fadd double %s248, %p249.0.r249
  %p250.0.r250 = load volatile double, ptr %p250, align 8
  %s250 = fadd double %s249, %p250.0.r250
  %p251.0.r251 = load volatile double, ptr %p251, align 8
  %s251 = fadd double %s250, %p251.0.r251
  %p252.0.r252 = load volatile double, ptr %p252, align 8
  %s252 = fadd double %s251, %p252.0.r252
  %p253.0.r253 = load volatile double, ptr %p253, align 8
  %s253 = fadd double %s252, %p253.0.r253
  %p254.0.r254 = load volatile double, ptr %p254, align 8
  %s254 = fadd double %s253, %p254.0.r254
  %p255.0.r255 = load volatile double, ptr %p255, align 8
  %s255 = fadd double %s254, %p255.0.r255
  %p256.0.r256 = load volatile double, ptr %p256, align 8
  %s256 = fadd double %s255, %p256.0.r256
  %p257.0.r257 = load volatile double, ptr %p257, align 8
  %s257 = fadd double %s256, %p257.0.r257
  %p258.0.r258 = load volatile double, ptr %p258, align 8
  %s258 = fadd double %s257, %p258.0.r258
  %p259.0.r259 = load volatile double, ptr %p259, align 8
  %s259 = fadd double %s258, %p259.0.r259
  ret double %s259
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Scenarios that have a file of their own. */
#ifndef SCENARIOS_H
#define SCENARIOS_H

void scenario_entry(void);
void scenario_return(void);
void scenario_return_illegal(void);

#endif

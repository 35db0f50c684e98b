/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Runs a script: recursion, closures, coroutines, errors, tables, strings, the compiler and the collector. */
#include <stdlib.h>
#include <string.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include "step.h"

enum { PHASES = 220 };

static const char script[] =
    "local work = {}\n"
    "local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end\n"
    "work[1] = function(i) return fib(8 + i % 6) end\n"
    "work[2] = function(i)\n"
    "  local t = {}\n"
    "  for k = 1, 60 + i % 50 do t[k] = (k * 7919 + i) % 101 end\n"
    "  table.sort(t, function(a, b) return a > b end)\n"
    "  for k = 2, #t do assert(t[k - 1] >= t[k]) end\n"
    "  return #table.concat(t, ',')\n"
    "end\n"
    "work[3] = function(i)\n"
    "  local co = coroutine.wrap(function(a)\n"
    "    for k = 1, 30 do a = coroutine.yield(a + k) end\n"
    "    return 'done'\n"
    "  end)\n"
    "  local v = i\n"
    "  for k = 1, 30 do v = co(v) end\n"
    "  assert(co(0) == 'done')\n"
    "  return v\n"
    "end\n"
    "work[4] = function(i)\n"
    "  local caught = 0\n"
    "  local function dive(n) if n == 0 then error({code = i}) end return dive(n - 1) + 1 end\n"
    "  for k = 1, 12 do\n"
    "    local ok, e = pcall(dive, k)\n"
    "    if not ok and e.code == i then caught = caught + 1 end\n"
    "    ok, e = pcall(string.rep, {}, k)\n"
    "    assert(not ok and e:find('bad argument'))\n"
    "  end\n"
    "  assert(caught == 12)\n"
    "  return caught\n"
    "end\n"
    "work[5] = function(i)\n"
    "  local s = string.rep('alpha beta gamma ' .. i .. ' ', 8)\n"
    "  local n = 0\n"
    "  for w in s:gmatch('%a+') do n = n + #w end\n"
    "  s = s:gsub('(%a+) (%d+)', function(a, b) return b .. a:upper() end)\n"
    "  return n + #s + #string.format('%5d|%-8s|%.3g|%x|%q', i, 'x', i / 3, i, s)\n"
    "end\n"
    "work[6] = function(i)\n"
    "  local source = 'local a, b = ... local t = {} for k = a, b do t[#t + 1] = k * ' .. i\n"
    "  source = source .. ' if k % 3 == 0 then goto skip end t.x = (t.x or 0) + k ::skip:: end return #t, t.x'\n"
    "  local f = assert(load(source))\n"
    "  local n, x = f(1, 40)\n"
    "  assert(n == 40 and not load('return +'))\n"
    "  return n + x\n"
    "end\n"
    "work[7] = function(i)\n"
    "  local class = {} class.__index = class\n"
    "  class.__add = function(a, b) return setmetatable({v = a.v + b.v}, class) end\n"
    "  class.__lt = function(a, b) return a.v < b.v end\n"
    "  class.__gc = function() end\n"
    "  local sum = setmetatable({v = 0}, class)\n"
    "  for k = 1, 80 do sum = sum + setmetatable({v = k}, class) end\n"
    "  if i % 5 == 0 then collectgarbage() else collectgarbage('step', 2) end\n"
    "  return sum.v\n"
    "end\n"
    "work[8] = function(i)\n"
    "  local s = 0.5\n"
    "  for k = 1, 150 do s = s * 1.01 + k % 7 - k // 3 + ((k & i) ~ 5) end\n"
    "  return s // 1\n"
    "end\n"
    "return function(i) return work[i % #work + 1](i) end\n";

static void *allocate(void *ctx, void *p, size_t old, size_t size)
{
    (void)ctx;
    (void)old;
    if (size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, size);
}

static int open_all(lua_State *l)
{
    luaL_requiref(l, "_G", luaopen_base, 1);
    luaL_requiref(l, "string", luaopen_string, 1);
    luaL_requiref(l, "table", luaopen_table, 1);
    luaL_requiref(l, "coroutine", luaopen_coroutine, 1);
    lua_settop(l, 0);
    return luaL_loadbufferx(l, script, sizeof script - 1, "script", "t") != LUA_OK ||
           lua_pcall(l, 0, 1, 0) != LUA_OK;
}

static int phase(lua_State *l, int i)
{
    int failed;

    lua_pushvalue(l, 1);
    lua_pushinteger(l, i);
    failed = lua_pcall(l, 1, 1, 0) != LUA_OK;
    if (failed)
        step_tell(lua_tostring(l, -1));
    lua_settop(l, 1);
    return failed;
}

int step_main(void)
{
    lua_State *l = lua_newstate(allocate, NULL);
    int failures, i;

    step_mark(0, PHASES + 1);
    failures = l == NULL || open_all(l);
    if (failures != 0 && l != NULL)
        step_tell(lua_tostring(l, -1));
    for (i = 1; failures == 0 && i <= PHASES; i++) {
        step_mark(i, PHASES + 1);
        failures += phase(l, i);
    }
    return failures;
}

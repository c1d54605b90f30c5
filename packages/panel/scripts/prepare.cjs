/*
 * Builds the panel after an install. Without the development packages there is nothing to build it
 * with, and no reason to fail: the service runs without it, and says at `/` how to build it.
 */
"use strict"

const skip = (reason) => process.stderr.write(`the control panel is not built: ${reason}\n`)

const whyNot = (error) =>
  error.code === "ERR_MODULE_NOT_FOUND"
    ? "the development packages are not installed"
    : error.message

if (process.features.typescript) import("./build.ts").catch((error) => skip(whyNot(error)))
else skip("this needs Node 22.19 or newer")

/*
 * Builds the panel after `npm install`. Does nothing without development packages, because the
 * service also runs without the panel and explains at `/` how to build it.
 */
"use strict"

const skip = (reason) => process.stderr.write(`the control panel is not built: ${reason}\n`)

const whyNot = (error) =>
  error.code === "ERR_MODULE_NOT_FOUND"
    ? "the development packages are not installed"
    : error.message

if (process.features.typescript) import("./build.ts").catch((error) => skip(whyNot(error)))
else skip("this needs Node 22.19 or newer")

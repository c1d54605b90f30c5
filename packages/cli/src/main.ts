#!/usr/bin/env node
import { runCli } from "./runCli.ts"

// A reader such as `head` can close the pipe before everything is written.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 1)
})

process.exitCode = await runCli(process.argv.slice(2))

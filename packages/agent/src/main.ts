#!/usr/bin/env node
import "effect/schema/SchemaJITCompiler/enable"
import { NodeServices } from "@effect/platform-node"
import { Cause, Effect, Exit, Layer, Logger } from "effect"
import { CliError, Command } from "effect/cli"
import packageJson from "../package.json" with { type: "json" }
import { command } from "./cli.ts"
import { formatLogLine, LogLines } from "./LogLines.ts"
import { toPrintableLine } from "./toPrintableLine.ts"
import { AgentExitError } from "./ServiceRejection.ts"

const lines = new LogLines((text) => process.stdout.write(text))
process.once("exit", () => lines.flush())

const Logs = Logger.layer([Logger.make((entry) => lines.add(formatLogLine(entry)))])

/** Prints an error and returns the exit code. Command line errors are already printed. */
const reportError = (cause: Cause.Cause<unknown>): number => {
  const error = Cause.squash(cause)
  if (error instanceof AgentExitError) {
    process.stderr.write(`${error.message}\n`)
    return error.exitCode
  }
  if (CliError.isCliError(error)) return 64
  const lines = Cause.pretty(cause).split("\n")
  process.stderr.write(`${lines.map(toPrintableLine).join("\n")}\n`)
  return 1
}

// On a signal, `runMain` would interrupt the agent, but the agent must let its calls finish first.
Effect.runFork(
  Command.run(command, { version: packageJson.version }).pipe(
    Effect.provide(Layer.merge(NodeServices.layer, Logs))
  )
).addObserver((exit) => process.exit(Exit.isSuccess(exit) ? 0 : reportError(exit.cause)))

#!/usr/bin/env node
import "effect/schema/SchemaJITCompiler/enable"
import { NodeServices } from "@effect/platform-node"
import { Cause, Effect, Exit, Layer, Logger } from "effect"
import { CliError, Command } from "effect/cli"
import packageJson from "../package.json" with { type: "json" }
import { command } from "./cli.ts"
import { lineOf, Lines } from "./Lines.ts"
import { printable } from "./printable.ts"
import { AgentEnded } from "./refusals.ts"

const lines = new Lines((text) => process.stdout.write(text))
process.once("exit", () => lines.flush())

const Logs = Logger.layer([Logger.make((entry) => lines.add(lineOf(entry)))])

/**
 * Prints an error and returns the exit code. The command line has printed its own errors before.
 */
const explain = (cause: Cause.Cause<unknown>): number => {
  const error = Cause.squash(cause)
  if (error instanceof AgentEnded) {
    process.stderr.write(`${error.message}\n`)
    return error.exitCode
  }
  if (CliError.isCliError(error)) return 64
  const lines = Cause.pretty(cause).split("\n")
  process.stderr.write(`${lines.map(printable).join("\n")}\n`)
  return 1
}

// Not `runMain`, which interrupts at a signal: the agent must let its calls finish first.
Effect.runFork(
  Command.run(command, { version: packageJson.version }).pipe(
    Effect.provide(Layer.merge(NodeServices.layer, Logs))
  )
).addObserver((exit) => process.exit(Exit.isSuccess(exit) ? 0 : explain(exit.cause)))

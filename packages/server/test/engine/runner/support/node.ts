// Runs one engine node as a process, for tests that kill it: node.ts, with DATABASE_URL and, as
// JSON, RUNNER_OPTIONS in the environment. It makes real calls, but only to loopback addresses.
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Logger } from "effect"
import { callLayer } from "@scheduling/calls/testing/CallTargets"
import { nodeLayer } from "./engine.ts"
import { databaseLayer } from "../../../support/TestDatabase.ts"

const options = JSON.parse(process.env["RUNNER_OPTIONS"] ?? "{}")

Layer.launch(
  Layer.effectDiscard(Effect.sync(() => process.stdout.write("ready\n"))).pipe(
    Layer.provide(nodeLayer(callLayer({ limits: { perOrigin: 512 } }), options)),
    Layer.provide(databaseLayer(process.env["DATABASE_URL"] ?? "", 4)),
    Layer.provide(Logger.layer([Logger.consoleStructured]))
  )
).pipe(NodeRuntime.runMain)

import "effect/schema/SchemaJITCompiler/enable"
import { NodeRuntime } from "@effect/platform-node"
import { Layer } from "effect"
import { keepNewObjectsYoung } from "./core/index.ts"
import { reportStartFailure, ServerLayer, teardown } from "./Server.ts"

keepNewObjectsYoung()

Layer.launch(ServerLayer).pipe(
  reportStartFailure,
  NodeRuntime.runMain({ disableErrorReporting: true, teardown })
)

import { Api } from "@scheduling/domain/Api"
import { DelayedTask, DelayedTaskBatchResult } from "@scheduling/domain/delayed/DelayedTask"
import { Execution } from "@scheduling/domain/executions/Execution"
import { Effect } from "effect"
import { implement } from "../../http/index.ts"
import { taskHandlers } from "../taskHandlers.ts"
import { DelayedTasks } from "./DelayedTasks.ts"

export const DelayedHandlers = implement(
  Api,
  "delayed",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll(
      yield* taskHandlers({
        name: "delayed",
        tasks: yield* DelayedTasks,
        answers: { task: DelayedTask, batch: DelayedTaskBatchResult, run: Execution },
        prepare: () => Effect.void
      })
    )
  })
)

import { Conflict } from "@scheduling/domain/shared/Errors"
import { Effect, identity, type Schema } from "effect"
import { inWorkspace } from "../../http/index.ts"
import { makeKindMonitors } from "../KindMonitors.ts"
import type { MonitorKind } from "../MonitorKind.ts"
import { monitorHandlers } from "../monitorHandlers.ts"
import type { CheckedTypes } from "./checkedKind.ts"

/** Creates the handlers for a kind of monitor whose targets are checked periodically. */
export const checkedHandlers = <
  Target,
  Input,
  Changes,
  Monitor extends { readonly version: number },
  Encoded
>(
  kind: MonitorKind<CheckedTypes<Target, Input, Changes, Monitor>>,
  answer: Schema.Codec<Monitor, Encoded>
) =>
  Effect.gen(function* () {
    const monitors = yield* makeKindMonitors(kind)
    const { common, handleMonitor } = yield* monitorHandlers(monitors, {
      answer,
      createOperation: `${kind.table.kind}_monitors.create`,
      toAnswer: Effect.succeed(identity<Monitor>)
    })
    return {
      ...common,

      check: inWorkspace(
        handleMonitor((workspaceId, id) =>
          monitors.act(workspaceId, id, (row, at) =>
            row.status === "paused"
              ? Effect.fail(
                  new Conflict({
                    resource: "monitor",
                    field: "status",
                    message: "The monitor is paused. Resume it before you check it."
                  })
                )
              : kind.rows.update(row, { check_at: at })
          )
        )
      )
    }
  })

import type { Check } from "@scheduling/domain/monitors/checks/Check"
import { checkSettings } from "@scheduling/domain/monitors/checks/checkFields"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { MonitorId, type WorkspaceId } from "@scheduling/domain/shared/Ids"
import { DateTime, Effect, identity, type Schema } from "effect"
import { Ids } from "../../core/index.ts"
import { inWorkspace } from "../../http/index.ts"
import { timestampOf } from "../../store/index.ts"
import { makeKindMonitors } from "../KindMonitors.ts"
import type { MonitorKind } from "../MonitorKind.ts"
import { monitorHandlers, rejectPausedMonitor } from "../monitorHandlers.ts"
import { MonitorTests } from "../MonitorTests.ts"
import type { CheckedTypes } from "./checkedKind.ts"
import { Prober } from "./Checks.ts"

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
    const ids = yield* Ids
    const monitors = yield* makeKindMonitors(kind)
    const prober = yield* Prober
    const tests = yield* MonitorTests
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
            row.status === "paused" ? rejectPausedMonitor : kind.rows.update(row, { check_at: at })
          )
        )
      ),

      test: inWorkspace(
        Effect.fnUntraced(function* (
          workspace_id,
          {
            payload
          }: {
            readonly params: { readonly workspace_id: WorkspaceId }
            readonly payload: CheckedTypes<Target, Input, Changes, Monitor>["Input"]
          }
        ) {
          const settings = yield* monitors.settingsOfNew(workspace_id, payload)
          const { places, target, timeout_seconds = defaultTimeoutSeconds } = settings
          if (places != null) return yield* notFromPlaces
          const { result } = yield* tests.run(
            workspace_id,
            timeout_seconds,
            prober.check({
              kind: kind.table.kind,
              workspace_id,
              monitor_id: MonitorId.make(yield* ids.next),
              target,
              timeout_seconds
            })
          )
          const check: Check = { at: timestampOf(yield* DateTime.nowAsDate), ...result }
          return check
        })
      )
    }
  })

const defaultTimeoutSeconds = checkSettings.defaults.timeout_seconds

const notFromPlaces = Effect.fail(
  ValidationFailed.at(
    ["places"],
    "invalid",
    "must be null or absent in a test, because only the service itself can make it"
  )
)

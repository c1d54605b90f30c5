import { certificateTimeoutSeconds } from "@scheduling/calls/tls/TlsProbe"
import { Api } from "@scheduling/domain/Api"
import { SslMonitor } from "@scheduling/domain/monitors/ssl/SslMonitor"
import { DateTime, Effect, identity } from "effect"
import { implement, inWorkspace } from "../../http/index.ts"
import { timestampOf } from "../../store/index.ts"
import { monitorHandlers, rejectPausedMonitor } from "../monitorHandlers.ts"
import { MonitorTests } from "../MonitorTests.ts"
import { makeKindMonitors } from "../KindMonitors.ts"
import { makeCheckCertificate } from "./makeCheckCertificate.ts"
import { sslMonitorKind, toSslSettings } from "./sslMonitorKind.ts"
import { SslMonitorsRepo } from "./SslMonitorsRepo.ts"
import { toCertificate } from "./SslRow.ts"

export const SslMonitorsHandlers = implement(
  Api,
  "sslMonitors",
  Effect.fnUntraced(function* (handlers) {
    const monitors = yield* makeKindMonitors(yield* sslMonitorKind)
    const repo = yield* SslMonitorsRepo
    const checkCertificate = yield* makeCheckCertificate
    const tests = yield* MonitorTests
    const { common, handleMonitor } = yield* monitorHandlers(monitors, {
      answer: SslMonitor,
      createOperation: "ssl_monitors.create",
      toAnswer: Effect.succeed(identity<SslMonitor>)
    })
    return handlers.handleAll({
      ...common,

      check: inWorkspace(
        handleMonitor((workspaceId, id) =>
          monitors.act(workspaceId, id, (row, at) => {
            if (row.status === "paused") return rejectPausedMonitor
            // A failure that is not confirmed yet is checked again within a minute anyway.
            const isConfirming = row.failures > 0 && row.status !== "down"
            return isConfirming ? Effect.void : repo.update(row, { check_at: at, failures: 0 })
          })
        )
      ),

      test: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { payload }) {
          yield* monitors.settingsOfNew(workspaceId, payload)
          const { duration_ms, result } = yield* tests.run(
            workspaceId,
            certificateTimeoutSeconds,
            checkCertificate(toSslSettings(payload))
          )
          const at = yield* DateTime.nowAsDate
          const { certificate, message, verification } = result
          return {
            at: timestampOf(at),
            verification,
            verification_message: message,
            certificate: certificate === null ? null : toCertificate(certificate, at),
            duration_ms
          }
        })
      )
    })
  })
)

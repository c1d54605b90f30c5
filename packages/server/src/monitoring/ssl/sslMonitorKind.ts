import { forbiddenTargetCheck } from "@scheduling/calls/egress/forbiddenTargetCheck"
import type { SslEvent } from "@scheduling/domain/monitors/ssl/SslEvent"
import {
  defaultPorts,
  sslDefaults,
  type SslMonitor,
  type SslMonitorInput,
  type SslMonitorUpdate
} from "@scheduling/domain/monitors/ssl/SslMonitor"
import { Effect } from "effect"
import { isDeepStrictEqual } from "node:util"
import { urlOfHost } from "../checks/urlOfHost.ts"
import { type MonitorKind, decidePause } from "../MonitorKind.ts"
import type { SslCheckDetails } from "./CertificateChecks.ts"
import { SslMonitorsRepo } from "./SslMonitorsRepo.ts"
import { type SslColumns, type SslRow, type SslSettings, sslTable, toSslMonitor } from "./SslRow.ts"

export interface SslTypes {
  readonly Row: SslRow
  readonly Columns: SslColumns
  readonly Joined: object
  readonly Input: SslMonitorInput
  readonly Changes: SslMonitorUpdate
  readonly Monitor: SslMonitor
  readonly Details: SslCheckDetails
  readonly Event: SslEvent
}

/**
 * Defines the SSL monitor, which watches the certificate of a server. `CertificateChecks` runs the
 * checks.
 */
export const sslMonitorKind = Effect.gen(function* () {
  const checkTargets = yield* forbiddenTargetCheck
  const kind: MonitorKind<SslTypes> = {
    table: sslTable,
    rows: yield* SslMonitorsRepo,
    toSettings: toSslSettings,
    changeSettings: (row, changes) => ({ ...row, ...changes }),
    checkTarget: (_, { host }) =>
      host === undefined ? Effect.void : checkTargets([{ path: ["host"], url: urlOfHost(host) }]),
    initialColumns: (_, at) => ({ check_at: at }),
    decideSettings: (row, settings, at) => {
      const { status: from } = row
      const isSame = isDeepStrictEqual(toTarget({ ...row, ...settings }), toTarget(row))
      const isKnown = from !== "new" && from !== "paused"
      return {
        columns: {
          ...settings,
          ...(isSame ? {} : neverChecked),
          failures: 0,
          check_at: from === "paused" ? null : at
        },
        // The new target has not been checked yet, so the old status does not apply to it.
        changes: isSame || !isKnown ? [] : [{ from, to: "new", at: at.getTime(), cause: null }],
        events: []
      }
    },
    decidePaused: (row, isPaused, at) => ({
      columns: { check_at: isPaused ? null : at, failures: 0 },
      ...decidePause(row, isPaused, at)
    }),
    show: toSslMonitor,
    showDetails: (details) => ({
      verification: details.verification ?? null,
      message: details.message ?? null,
      fingerprint_sha256: details.fingerprint_sha256 ?? null,
      duration_ms: details.duration_ms ?? null
    })
  }
  return kind
})

export const toSslSettings = (input: SslMonitorInput) => ({
  ...sslDefaults,
  port: defaultPorts[input.protocol ?? sslDefaults.protocol],
  ...input
})

const toTarget = ({ host, port, protocol, server_name }: SslSettings) => ({
  host,
  port,
  protocol,
  name: server_name ?? host
})

const neverChecked = {
  last_check_at: null,
  verification: null,
  message: null,
  certificate: null,
  seen: []
}

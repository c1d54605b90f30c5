import { TlsProbe } from "@scheduling/calls/tls/TlsProbe"
import { Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { onlyOnRunnerNodes } from "../../core/index.ts"
import { isAheadOfClock } from "../../store/index.ts"
import { CertificateChecks, CertificateChecksLayer } from "./CertificateChecks.ts"
import { SslMonitorsHandlers } from "./http.ts"
import { SslMonitorsRepo } from "./SslMonitorsRepo.ts"
import { sslTable } from "./SslRow.ts"

const CheckingLayer = onlyOnRunnerNodes(
  CertificateChecksLayer.pipe(Layer.provide(CertificateChecks.layer))
)

export const sslMonitors = {
  table: sslTable,
  layer: Layer.mergeAll(SslMonitorsHandlers, CheckingLayer).pipe(
    Layer.provide([SslMonitorsRepo.layer, TlsProbe.layer])
  ),
  correctTimes: (sql: SqlClient.SqlClient) => [
    sql`
      UPDATE ssl_monitors
      SET check_at = now(), last_check_at = least(last_check_at, now())
      WHERE ${sql.literal(isAheadOfClock("check_at"))}
        AND (last_check_at IS NULL OR ${sql.literal(isAheadOfClock("last_check_at"))})`
  ]
}

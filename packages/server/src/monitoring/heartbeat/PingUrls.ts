import { Context, Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { mac, seal, Secrets, unsealIfKnown } from "../../core/index.ts"
import type { RowId } from "../MonitorRows.ts"
import type { PingUrlRow } from "./HeartbeatsRepo.ts"

/**
 * The secret parts of ping URLs. At rest there is a keyed hash, by which a ping is found, and a sealed
 * copy, by which the URL is shown again.
 */
export class PingUrls extends Context.Service<
  PingUrls,
  {
    readonly make: (owner: RowId) => PingUrlRow
    /** The hashes under the current secret, which comes first, and under retired ones. */
    readonly hashesOf: (pingId: string) => readonly [string, ...Array<string>]
    /** The same URL, under the current secret. */
    readonly renew: (owner: RowId, pingId: string) => PingUrlRow
    /** Null if the id was sealed with a secret that is gone. */
    readonly open: (monitorId: string, sealed: string) => string | null
  }
>()("@scheduling/server/monitoring/heartbeat/PingUrls") {
  static readonly layer: Layer.Layer<PingUrls, never, Secrets> = Layer.effect(
    PingUrls,
    Effect.map(Secrets, (secrets) => {
      const [current, ...retired] = secrets.keys("ping-url")
      const shown = secrets.keys("ping-url-shown")

      const renew = ({ monitor_id, workspace_id }: RowId, pingId: string): PingUrlRow => ({
        monitor_id,
        workspace_id,
        ping_hash: mac(current, pingId),
        sealed_ping_id: seal(shown, monitor_id, pingId)
      })

      return PingUrls.of({
        make: (owner) => renew(owner, randomUUID()),
        hashesOf: (pingId) => [mac(current, pingId), ...retired.map((key) => mac(key, pingId))],
        renew,
        open: (monitorId, sealed) => unsealIfKnown(shown, monitorId, sealed) ?? null
      })
    })
  )
}

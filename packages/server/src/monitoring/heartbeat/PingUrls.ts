import { Context, Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { mac, seal, Secrets, unsealIfKnown } from "../../core/index.ts"
import type { MonitorRef } from "../MonitorTable.ts"
import type { PingUrlRow } from "./HeartbeatsRepo.ts"

/**
 * Creates and encrypts the secret parts of ping URLs. The database stores a keyed hash to find a
 * ping's monitor, and an encrypted copy to show the URL again.
 */
export class PingUrls extends Context.Service<
  PingUrls,
  {
    readonly make: (owner: MonitorRef) => PingUrlRow
    /** Returns the hash with the current secret, followed by the hashes with retired secrets. */
    readonly hashesOf: (pingId: string) => readonly [string, ...Array<string>]
    /** Hashes and encrypts an existing URL with the current secret. */
    readonly renew: (owner: MonitorRef, pingId: string) => PingUrlRow
    /** Decrypts the id. Returns null if its secret is no longer configured. */
    readonly open: (monitorId: string, sealed: string) => string | null
  }
>()("@scheduling/server/monitoring/heartbeat/PingUrls") {
  static readonly layer: Layer.Layer<PingUrls, never, Secrets> = Layer.effect(
    PingUrls,
    Effect.map(Secrets, (secrets) => {
      const [current, ...retired] = secrets.keys("ping-url")
      const shown = secrets.keys("ping-url-shown")

      const renew = ({ monitor_id, workspace_id }: MonitorRef, pingId: string): PingUrlRow => ({
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

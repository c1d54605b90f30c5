import { callLayer } from "@scheduling/calls/testing/CallTargets"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { AuditLog } from "../../../src/accounts/audit/AuditLog.ts"
import { ChangeLog } from "../../../src/accounts/audit/ChangeLog.ts"
import { AppConfig } from "../../../src/core/config/Config.ts"
import { LimitsRepo } from "../../../src/plans/LimitsRepo.ts"
import { Limits } from "../../../src/plans/Limits.ts"
import { UsageRepo } from "../../../src/plans/UsageRepo.ts"
import { ChannelsRepo } from "../../../src/notifications/channels/ChannelsRepo.ts"
import { sealConfig } from "../../../src/notifications/channels/ChannelSecrets.ts"
import { PauseChannel } from "../../../src/notifications/channels/PauseChannel.ts"
import { MemberChannels } from "../../../src/notifications/escalations/MemberChannels.ts"
import { IncidentsRepo } from "../../../src/incidents/IncidentsRepo.ts"
import { MaintenanceRepo } from "../../../src/incidents/maintenance/MaintenanceRepo.ts"
import { NotifierLayer } from "../../../src/notifications/index.ts"
import { channelKinds } from "../../../src/notifications/kinds/channelKinds.ts"
import { Mailer } from "../../../src/mail/Mailer.ts"
import { Router } from "../../../src/notifications/routing/Router.ts"
import { RoutingRepo } from "../../../src/notifications/routing/RoutingRepo.ts"
import { DeliveriesRepo } from "../../../src/notifications/sending/DeliveriesRepo.ts"
import { Sender } from "../../../src/notifications/sending/Sender.ts"
import { Transport } from "../../../src/notifications/sending/Transport.ts"
import { SettingsRepo } from "../../../src/notifications/settings/SettingsRepo.ts"
import { Outbox } from "../../../src/events/Outbox.ts"
import { OutboxWaker, WatchedWaker } from "../../../src/events/OutboxWaker.ts"
import { Ids } from "../../../src/core/Ids.ts"
import { makeSecrets, seal, Secrets } from "../../../src/core/Secrets.ts"
import { Signals } from "../../../src/events/Signals.ts"
import { CallSecrets } from "../../../src/engine/secrets/CallSecrets.ts"
import { SigningSecrets } from "../../../src/engine/signing/SigningSecrets.ts"
import { insertWorkspaceIn, deriveLane } from "../../engine/runner/support/tasks.ts"
import { testConfig } from "../../support/TestApp.ts"

const secret = Redacted.make("a secret for tests, thirty-two bytes and more")

export const SecretsLayer = Secrets.layerFrom(secret)

export const configLayer = (fields: Partial<AppConfig["Service"]> = {}) =>
  Layer.succeed(AppConfig, { ...testConfig, ...fields })

const Base = Layer.mergeAll(
  Ids.layer,
  SecretsLayer,
  Signals.layer,
  Layer.sync(OutboxWaker, () => new WatchedWaker())
)

const Repositories = Layer.mergeAll(
  ChannelsRepo.layer,
  DeliveriesRepo.layer,
  RoutingRepo.layer.pipe(Layer.provideMerge(IncidentsRepo.layer)),
  MaintenanceRepo.layer,
  SettingsRepo.layer,
  LimitsRepo.layer,
  UsageRepo.layer,
  ChangeLog.layer.pipe(Layer.provideMerge(AuditLog.layer)),
  CallSecrets.layer,
  SigningSecrets.layer,
  Outbox.layer
)

/** The router and the sender, whose steps the test runs itself. */
export const steppedNotifierLayer = (fields: Partial<AppConfig["Service"]> = {}) =>
  Layer.fresh(
    Layer.mergeAll(Router.layer, Sender.layer).pipe(
      Layer.provideMerge(MemberChannels.layer),
      Layer.provideMerge(Limits.layer),
      Layer.provideMerge(PauseChannel.layer),
      Layer.provideMerge(Transport.layer),
      Layer.provideMerge([Mailer.layer, callLayer()]),
      Layer.provideMerge(Repositories),
      Layer.provideMerge(Base),
      Layer.provideMerge(configLayer(fields))
    )
  )

/** A node that only sends notifications. Each use of the layer is a separate node. */
export const notifierLayer = (fields: Partial<AppConfig["Service"]> = {}) =>
  NotifierLayer.pipe(Layer.provideMerge(steppedNotifierLayer(fields)))

/** Inserts a workspace with the secret that signs its webhook messages. */
export const insertWorkspaceOf = Effect.fnUntraced(function* (share: number) {
  const sql = yield* SqlClient.SqlClient
  const workspace_id = yield* insertWorkspaceIn(deriveLane(share))
  const ring = makeSecrets([secret]).keys("signing-secret")
  const sealed_secret = seal(ring, workspace_id, `whsec_${"A".repeat(43)}=`)
  yield* sql`
    INSERT INTO signing_secrets (id, workspace_id, sealed_secret, created_at)
    VALUES (${randomUUID()}, ${workspace_id}, ${sealed_secret}, now())`
  return workspace_id
})

const allEvents = [
  "execution.failed",
  "chain_run.failed",
  "task.recovered",
  "incident.opened",
  "incident.closed",
  "certificate.expiring"
]

/** Inserts channels as the service stores them, and a rule that sends all events to them. */
export const insertChannels = Effect.fnUntraced(function* (
  workspace_id: string,
  channels: ReadonlyArray<{
    readonly kind?: keyof typeof channelKinds
    readonly config: Readonly<Record<string, unknown>>
  }>,
  settings: Readonly<Record<string, unknown>> = {}
) {
  const sql = yield* SqlClient.SqlClient
  const ring = (yield* Secrets).keys("notification-channel")
  const ids: Array<string> = []
  for (const { config, kind = "webhook" } of channels) {
    const id = randomUUID()
    const sealed = sealConfig(ring, id, channelKinds[kind], config)
    yield* sql`
      INSERT INTO notification_channels (
        id, workspace_id, name, kind, config, sealed_secrets, created_at, updated_at
      )
      VALUES (
        ${id}, ${workspace_id}, ${kind}, ${kind}, ${JSON.stringify(sealed.config)}::jsonb,
        ${sealed.sealed_secrets}, now(), now()
      )`
    ids.push(id)
  }
  yield* sql`
    INSERT INTO notification_settings (workspace_id, version, settings, updated_at)
    VALUES (
      ${workspace_id}, 1,
      ${JSON.stringify({ rules: [{ events: allEvents, channel_ids: ids }], ...settings })}::jsonb,
      now()
    )`
  return ids
})

export const deliveriesTo = (channelId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{
      readonly id: string
      readonly status: string
      readonly attempts_count: number
      readonly events: number
      readonly error: string | null
    }>`
      SELECT id, status, attempts_count, begun + ended + other AS events, error
      FROM notification_deliveries
      WHERE channel_id = ${channelId}
      ORDER BY ordinal`
  )

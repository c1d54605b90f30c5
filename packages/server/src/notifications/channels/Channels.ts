import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  type NotificationChannelDefinition,
  type NotificationChannelInput,
  type NotificationChannelUpdate,
  notificationKinds
} from "@scheduling/domain/notifications/NotificationChannel"
import { Conflict, ValidationFailed } from "@scheduling/domain/shared/Errors"
import type { NotificationChannelId } from "@scheduling/domain/shared/Ids"
import type { ListQuery } from "@scheduling/domain/shared/requests/ListQuery"
import { Context, DateTime, Effect, Layer, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { isDeepStrictEqual } from "node:util"
import {
  ChangeLog,
  changesOf,
  currentAuthor,
  type RecordedDefinition
} from "../../accounts/index.ts"
import { Limits } from "../../plans/index.ts"
import {
  retryOnConflict,
  checkVersion,
  Ids,
  matchesDefinition,
  orNotFound,
  Secrets,
  withExistingId,
  upsertByKey
} from "../../core/index.ts"
import { countedPage, listRequest, sortByName, toPage, transactionOf } from "../../store/index.ts"
import { forbiddenTargetCheck } from "@scheduling/calls/egress/forbiddenTargetCheck"
import {
  channelDefinition,
  type ChannelRow,
  ChannelsRepo,
  type storedChannel,
  toChannel
} from "./ChannelsRepo.ts"
import { changeConfig, decodeConfig, decryptConfig, sealConfig } from "./ChannelSecrets.ts"
import { Consent } from "./Consent.ts"
import { DeliveriesRepo } from "../sending/DeliveriesRepo.ts"
import type { ConfigFields } from "../kinds/ChannelKind.ts"
import { channelKinds } from "../kinds/channelKinds.ts"
import { describeChannelKind } from "./describeChannelKind.ts"
import { Mailer } from "../../mail/index.ts"
import { EscalationsRepo } from "../escalations/EscalationsRepo.ts"
import { Settings } from "../settings/Settings.ts"

/** Creates, changes, lists and deletes the channels through which people are notified. */
export class Channels extends Context.Service<Channels>()(
  "@scheduling/server/notifications/channels/Channels",
  {
    make: Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const changeLog = yield* ChangeLog
      const checkTargets = yield* forbiddenTargetCheck
      const consent = yield* Consent
      const deliveries = yield* DeliveriesRepo
      const escalations = yield* EscalationsRepo
      const ids = yield* Ids
      const limits = yield* Limits
      const mailer = yield* Mailer
      const repo = yield* ChannelsRepo
      const settings = yield* Settings
      const ring = (yield* Secrets).keys("notification-channel")

      /** Returns the configuration if it is valid for the kind of channel, and fails otherwise. */
      const checkConfig = Effect.fnUntraced(function* (
        kind: ChannelRow["kind"],
        config: ConfigFields
      ) {
        if (kind === "email" && mailer.unavailable !== null) {
          return yield* ValidationFailed.at(
            ["kind"],
            "unknown_value",
            `must not be "email": ${mailer.unavailable}`
          )
        }
        const decoded = yield* decodeConfig(channelKinds[kind], config)
        const urls = ["url", "server"].flatMap((field) => {
          const url = decoded[field]
          return typeof url === "string" ? [{ path: ["config", field], url }] : []
        })
        yield* checkTargets(urls)
        return decoded
      })

      const changeOf = changesOf("notification_channel", channelDefinition)

      const decryptedConfig = (row: ChannelRow) =>
        decryptConfig(ring, row.id, channelKinds[row.kind], row)?.config

      /**
       * Returns the changed configuration if it is valid for the channel's kind, and fails
       * otherwise.
       */
      const changeAndCheckConfig = Effect.fnUntraced(function* (
        row: ChannelRow,
        changes: ConfigFields
      ) {
        return yield* checkConfig(
          row.kind,
          yield* changeConfig(channelKinds[row.kind], row.config, decryptedConfig(row), changes)
        )
      })

      const checkUnused = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        id: NotificationChannelId
      ) {
        const names = yield* escalations.findNamesOfChannel(workspaceId, id)
        if (names.length === 0) return
        return yield* new Conflict({
          resource: "notification_channel",
          message: `Escalation policies use the channel: ${names.join(", ")}. Change them first.`
        })
      })

      const create = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        input: NotificationChannelInput
      ) {
        const config = yield* checkConfig(input.kind, input.config)
        yield* limits.allowOneMore(workspaceId, "notification_channels")
        const id = yield* ids.next
        const now = yield* DateTime.nowAsDate
        const { kind } = input
        const sealed = sealConfig(ring, id, channelKinds[kind], config)
        const defined = {
          ...sealed,
          id,
          workspace_id: workspaceId,
          key: input.key ?? null,
          version: 1,
          name: input.name,
          tags: input.tags ?? [],
          kind,
          paused: input.paused ?? false,
          paused_reason: null,
          ...(yield* consent.agreed({ ...sealed, workspace_id: workspaceId, kind })),
          created_by: (yield* currentAuthor).actor,
          updated_by: null,
          created_at: now,
          updated_at: now
        }
        yield* repo.insert(defined)
        const row = { ...defined, ...neverSent }
        if (!row.confirmed) yield* consent.ask(row, "new")
        yield* changeLog.record(changeOf(undefined, defined))
        return toChannel(row)
      })

      /** Changes a channel. The caller must have locked its row. */
      const change = Effect.fnUntraced(function* (
        row: ChannelRow,
        { version, ...changes }: NotificationChannelUpdate
      ) {
        yield* checkVersion(row, version)
        const { id, workspace_id } = row
        const before = decryptedConfig(row)
        const after =
          changes.config === undefined ? before : yield* changeAndCheckConfig(row, changes.config)
        const isSameConfig = changes.config === undefined || isDeepStrictEqual(before, after)
        if (isSameConfig && matchesDefinition(row, Struct.omit(changes, ["config"])))
          return toChannel(row)
        const sealed =
          isSameConfig || after === undefined
            ? row
            : sealConfig(ring, id, channelKinds[row.kind], after)
        const { config, sealed_secrets } = sealed
        const paused = changes.paused ?? row.paused
        const isMoved = config["to"] !== row.config["to"]
        const isAsked = isMoved || (!row.confirmed && row.paused && !paused)
        const { by_membership, confirmed } = isAsked
          ? yield* consent.agreed({ ...row, config })
          : row
        const updated: ChannelRow = {
          ...row,
          config,
          sealed_secrets,
          key: changes.key === undefined ? row.key : changes.key,
          name: changes.name ?? row.name,
          tags: changes.tags ?? row.tags,
          version: row.version + 1,
          paused,
          paused_reason: paused ? row.paused_reason : null,
          confirmed,
          by_membership,
          updated_by: (yield* currentAuthor).actor,
          updated_at: yield* DateTime.nowAsDate
        }
        yield* repo.update(workspace_id, updated)
        if (paused && !row.paused) {
          yield* deliveries.cancel(workspace_id, id, "all", updated.updated_at)
        }
        if (isAsked && !confirmed) yield* consent.ask(updated, isMoved ? "new" : "known")
        yield* changeLog.record(changeOf(row, updated))
        return toChannel(updated)
      })

      const findKeyHolder = (workspaceId: AuthorizedWorkspaceId, key: string | null | undefined) =>
        withExistingId(key, (taken) => repo.findByKey(workspaceId, taken))

      return {
        list: Effect.fn("Channels.list")(function* (
          workspaceId: AuthorizedWorkspaceId,
          query: ListQuery & {
            readonly kind?: ReadonlyArray<ChannelRow["kind"]>
            readonly paused?: boolean
          }
        ) {
          const page = yield* listRequest(query, sorts)
          const rows = repo.list(workspaceId, query, page)
          return yield* countedPage(
            query,
            Effect.map(rows, (listed) => toPage(listed, page, toChannel)),
            repo.count(workspaceId, query)
          )
        }),

        get: (workspaceId: AuthorizedWorkspaceId, id: NotificationChannelId) =>
          Effect.map(requireChannel(repo.find(workspaceId, id)), toChannel),

        create: Effect.fn("Channels.create")(create, transaction, (write, workspaceId, { key }) =>
          findKeyHolder(workspaceId, key)(write)
        ),

        /**
         * Creates the channel with the key, or replaces its definition. Changes nothing if the
         * definition is the same.
         */
        upsert: Effect.fn("Channels.upsert")(
          (
            workspaceId: AuthorizedWorkspaceId,
            key: string,
            { config: given, version, ...definition }: NotificationChannelDefinition
          ) => {
            const named = { tags: [], ...definition }
            return upsertByKey(
              { key, resource: "notification_channel", version },
              {
                find: repo.findByKey(workspaceId, key),
                make: create(workspaceId, { ...named, config: given, key }),
                isDefined: Effect.fnUntraced(function* (row) {
                  if (row.kind !== named.kind) return yield* otherKind(row)
                  const config = yield* changeAndCheckConfig(row, toFullReplacement(row, given))
                  return (
                    matchesDefinition(row, named) && isDeepStrictEqual(config, decryptedConfig(row))
                  )
                }),
                show: (row) => Effect.succeed(toChannel(row)),
                lock: ({ id }) => repo.findForUpdate(workspaceId, id),
                change: (row) => change(row, { ...named, config: toFullReplacement(row, given) })
              }
            )
          },
          transaction,
          retryOnConflict
        ),

        update: Effect.fn("Channels.update")(
          function* (
            workspaceId: AuthorizedWorkspaceId,
            id: NotificationChannelId,
            changes: NotificationChannelUpdate
          ) {
            return yield* change(
              yield* requireChannel(repo.findForUpdate(workspaceId, id)),
              changes
            )
          },
          transaction,
          (write, workspaceId, _, { key }) => findKeyHolder(workspaceId, key)(write)
        ),

        remove: Effect.fn("Channels.remove")(function* (
          workspaceId: AuthorizedWorkspaceId,
          id: NotificationChannelId,
          version?: number
        ) {
          const row = yield* requireChannel(repo.findForUpdate(workspaceId, id))
          yield* checkVersion(row, version)
          yield* checkUnused(workspaceId, id)
          yield* deliveries.cancel(workspaceId, id, "all", yield* DateTime.nowAsDate)
          yield* repo.remove(workspaceId, id)
          yield* settings.removeRecipient(workspaceId, id)
          yield* changeLog.record(changeOf(row))
        }, transaction),

        /** Lists the versions of the channel's definition, newest first. */
        versions: Effect.fn("Channels.versions")(function* (
          workspaceId: AuthorizedWorkspaceId,
          id: string
        ) {
          const row = yield* requireChannel(repo.find(workspaceId, id))
          return yield* changeLog.listVersions(workspaceId, row.id, channelDefinition(row))
        }),

        restore: Effect.fn("Channels.restore")(
          function* (
            workspaceId: AuthorizedWorkspaceId,
            id: string,
            { stored }: RecordedDefinition,
            version?: number
          ) {
            const row = yield* requireChannel(repo.findForUpdate(workspaceId, id))
            yield* checkVersion(row, version)
            const { config, key, name, paused, tags } = stored as unknown as StoredChannel
            const kept = decryptConfig(ring, row.id, channelKinds[row.kind], {
              config: config.shown,
              sealed_secrets: config.sealed_secrets
            })
            if (kept === undefined) return yield* lostSecrets
            return yield* change(row, {
              key,
              name,
              tags,
              paused,
              config: toFullReplacement(row, kept.config)
            })
          },
          transaction,
          (write, workspaceId, _, { stored }) =>
            findKeyHolder(workspaceId, stored["key"] as string | null)(write)
        ),

        kinds: {
          data: notificationKinds.map((kind) =>
            describeChannelKind(
              kind,
              channelKinds[kind],
              kind === "email" ? mailer.unavailable : null
            )
          )
        }
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}

type StoredChannel = ReturnType<typeof storedChannel>

const lostSecrets = Effect.suspend(() =>
  Effect.fail(
    ValidationFailed.at(
      ["config"],
      "invalid",
      "has secrets that can no longer be decrypted: send the channel again with its secrets"
    )
  )
)

/** Converts the configuration to changes that also remove every field that it does not contain. */
const toFullReplacement = (row: ChannelRow, config: ConfigFields): ConfigFields => ({
  ...Object.fromEntries(Object.keys(row.config).map((field) => [field, null])),
  ...config
})

const sorts = { name: sortByName("notification_channels.name") }

const neverSent = { last_status: null, last_error: null, last_at: null }

const otherKind = ({ id, kind }: ChannelRow) =>
  Effect.fail(
    new Conflict({
      resource: "notification_channel",
      field: "kind",
      existing_id: id,
      message: `The channel with this key has the kind ${kind}, which cannot be changed. Use another key.`
    })
  )

const requireChannel = orNotFound("notification_channel")

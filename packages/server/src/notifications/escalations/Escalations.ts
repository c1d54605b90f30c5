import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  escalationDefaults,
  type EscalationPolicy,
  type EscalationPolicyDefinition,
  type EscalationStepInput,
  maxEscalationPolicies
} from "@scheduling/domain/escalations/EscalationPolicy"
import { Conflict, ValidationFailed } from "@scheduling/domain/shared/Errors"
import {
  EscalationPolicyId,
  type NotificationChannelId,
  type UserId
} from "@scheduling/domain/shared/Ids"
import type { ValidationIssue } from "@scheduling/domain/shared/ValidationIssue"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { changesOf, makeNamedDefinitions, type RecordedDefinition } from "../../accounts/index.ts"
import { checkVersion, orNotFound } from "../../core/index.ts"
import { findRecordIds, unknownIdIssues } from "../../incidents/index.ts"
import { Mailer } from "../../mail/index.ts"
import { timestampOf, transactionOf } from "../../store/index.ts"
import { Settings } from "../settings/Settings.ts"
import { SettingsRepo } from "../settings/SettingsRepo.ts"
import {
  type EscalationPolicyRow,
  EscalationsRepo,
  type PolicyChannel,
  type StoredEscalationStep
} from "./EscalationsRepo.ts"
import { MemberChannels } from "./MemberChannels.ts"

/** Creates, changes, lists and deletes escalation policies. */
export class Escalations extends Context.Service<Escalations>()(
  "@scheduling/server/notifications/escalations/Escalations",
  {
    make: Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const mailer = yield* Mailer
      const memberChannels = yield* MemberChannels
      const repo = yield* EscalationsRepo
      const settings = yield* Settings
      const settingsRepo = yield* SettingsRepo

      /** Returns the steps in their stored form. Rejects unknown channels and members. */
      const storedSteps = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        steps: ReadonlyArray<EscalationStepInput>
      ) {
        const channels = yield* repo.findChannels(
          workspaceId,
          steps.flatMap(({ channel_ids = [] }) => channel_ids),
          steps.flatMap(({ channel_keys = [] }) => channel_keys)
        )
        if (memberIdsOf(steps).length > 0 && mailer.unavailable !== null) {
          return yield* ValidationFailed.at(
            ["steps"],
            "invalid",
            `must not name members: ${mailer.unavailable}`
          )
        }
        const members = yield* repo.findMembers(workspaceId, memberIdsOf(steps))
        const checked = steps.map((step, index) => storedStep(step, index, channels, members))
        const issues = checked.flatMap((one) => one.issues)
        if (issues.length > 0) return yield* new ValidationFailed({ issues })
        return checked.map(({ step }) => step)
      })

      const definitions = yield* makeNamedDefinitions({
        resource: "escalation_policy",
        repo,
        changeOf: changesOf("escalation_policy", definitionOf, ({ key }) => ({ details: { key } })),
        toRecords: Effect.fnUntraced(function* (workspaceId, rows) {
          const steps = rows.flatMap((row) => row.steps)
          const ids = steps.flatMap(({ channel_ids }) => channel_ids)
          const channels = yield* repo.findChannels(workspaceId, ids, [])
          const members = yield* repo.findMembers(workspaceId, memberIdsOf(steps))
          return (row: EscalationPolicyRow) => toEscalationPolicy(row, channels, members)
        }),
        toRow: (columns, key, defined: Defined): EscalationPolicyRow => ({
          ...columns,
          key,
          ...defined
        }),
        limit: {
          count: maxEscalationPolicies,
          message: `A workspace can have at most ${maxEscalationPolicies} escalation policies. Delete one that no rule uses.`
        },
        taken: {
          field: "key",
          message: (key) =>
            `Somebody has just created the escalation policy "${key}". Send the request again to change it.`
        }
      })

      /** Fails if a notification rule names the policy. Locks the settings. */
      const checkUnused = Effect.fnUntraced(function* ({ id, workspace_id }: EscalationPolicyRow) {
        const { rules } = yield* settingsRepo.findForUpdate(workspace_id)
        const users = rules.flatMap(({ escalation_id }, index) =>
          escalation_id === id ? [`rules[${index}]`] : []
        )
        if (users.length === 0) return
        return yield* new Conflict({
          resource: "escalation_policy",
          message: `The notification settings use the policy in ${users.join(", ")}. Change the rules first.`
        })
      })

      return {
        list: Effect.fn("Escalations.list")(definitions.list, transaction),

        get: Effect.fn("Escalations.get")(definitions.get, transaction),

        upsert: Effect.fn("Escalations.upsert")(function* (
          workspaceId: AuthorizedWorkspaceId,
          key: string,
          { version, ...definition }: EscalationPolicyDefinition
        ) {
          const { name, repeat_after_seconds, repeat_count } = definition
          const defined = {
            name,
            steps: yield* storedSteps(workspaceId, definition.steps),
            repeat_count: repeat_count ?? escalationDefaults.repeat_count,
            repeat_after_seconds: repeat_after_seconds ?? escalationDefaults.repeat_after_seconds
          }
          const upserted = yield* definitions.upsert(workspaceId, key, defined, version)
          yield* memberChannels.create(workspaceId, memberIdsOf(defined.steps))
          return upserted
        }, transaction),

        remove: Effect.fn("Escalations.remove")(function* (
          workspaceId: AuthorizedWorkspaceId,
          key: string,
          version?: number
        ) {
          const row = yield* requirePolicy(repo.findForUpdate(workspaceId, key))
          yield* checkVersion(row, version)
          yield* checkUnused(row)
          yield* definitions.remove(workspaceId, key, version)
        }, transaction),

        /** Deletes a policy that a document no longer defines, even if rules name the policy. */
        prune: Effect.fn("Escalations.prune")(function* (
          workspaceId: AuthorizedWorkspaceId,
          key: string
        ) {
          const { id } = yield* requirePolicy(repo.findForUpdate(workspaceId, key))
          yield* settings.removeRecipient(workspaceId, id)
          yield* definitions.remove(workspaceId, key)
        }, transaction)
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}

const requirePolicy = orNotFound("escalation_policy")

type Defined = Pick<EscalationPolicyRow, "name" | "repeat_after_seconds" | "repeat_count" | "steps">

const memberIdsOf = (steps: ReadonlyArray<{ readonly member_ids?: ReadonlyArray<UserId> }>) =>
  steps.flatMap(({ member_ids = [] }) => member_ids)

const storedStep = (
  { after_seconds, channel_ids, channel_keys, member_ids = [] }: EscalationStepInput,
  index: number,
  channels: ReadonlyArray<PolicyChannel>,
  members: ReadonlySet<UserId>
): { readonly step: StoredEscalationStep; readonly issues: ReadonlyArray<ValidationIssue> } => {
  const path = ["steps", index]
  const named = { field: "channel", noun: "channel", ids: channel_ids, keys: channel_keys }
  const people = {
    field: "member",
    noun: "human member",
    ids: member_ids
  }
  const selected = findRecordIds<NotificationChannelId>(named, channels, path)
  const known = [...members].map((id) => ({ id, key: null }))
  return {
    step: { after_seconds, channel_ids: selected.ids, member_ids },
    issues: [
      ...unknownIdIssues(named, channels, path),
      ...unknownIdIssues(people, known, path),
      ...selected.issues
    ]
  }
}

const definitionOf = (row: EscalationPolicyRow): RecordedDefinition => {
  const { key, name, repeat_after_seconds, repeat_count, steps } = row
  const stored = { key, name, steps, repeat_count, repeat_after_seconds }
  return {
    version: row.version,
    updated_at: row.updated_at,
    updated_by: row.updated_by ?? row.created_by,
    stored,
    shown: stored
  }
}

const toEscalationPolicy = (
  row: EscalationPolicyRow,
  channels: ReadonlyArray<PolicyChannel>,
  members: ReadonlySet<UserId>
): EscalationPolicy => {
  const keys = new Map(channels.map(({ id, key }) => [id, key]))
  return {
    id: EscalationPolicyId.make(row.id),
    key: row.key,
    workspace_id: row.workspace_id,
    version: row.version,
    name: row.name,
    steps: row.steps.map(({ after_seconds, channel_ids, member_ids }) => ({
      after_seconds,
      channel_ids,
      channel_keys: channel_ids.flatMap((id) => keys.get(id) ?? []),
      member_ids: member_ids.filter((id) => members.has(id))
    })),
    repeat_count: row.repeat_count,
    repeat_after_seconds: row.repeat_after_seconds,
    created_by: row.created_by,
    updated_by: row.updated_by ?? row.created_by,
    created_at: timestampOf(row.created_at),
    updated_at: timestampOf(row.updated_at)
  }
}

import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { ProblemEvent } from "@scheduling/domain/notifications/NotificationEvent"
import {
  NotificationRecipient,
  type NotificationRecipients
} from "@scheduling/domain/notifications/NotificationRecipients"
import { EscalationPolicyId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Struct } from "effect"
import { ChannelsRepo, toChannel } from "../channels/ChannelsRepo.ts"
import { SettingsRepo } from "../settings/SettingsRepo.ts"
import { applyRules } from "./routeEvents.ts"
import { RoutingRepo } from "./RoutingRepo.ts"

interface AskedProblem {
  readonly event: ProblemEvent
  /** Undefined for a record that does not exist yet. */
  readonly subject_id?: string
  readonly tag?: ReadonlyArray<string>
}

/**
 * Determines who would be notified of a problem, by the rules that the router applies to real ones.
 */
export class Recipients extends Context.Service<Recipients>()(
  "@scheduling/server/notifications/routing/Recipients",
  {
    make: Effect.gen(function* () {
      const channels = yield* ChannelsRepo
      const repo = yield* RoutingRepo
      const settings = yield* SettingsRepo
      return {
        find: Effect.fn("Recipients.find")(function* (
          workspaceId: AuthorizedWorkspaceId,
          { event, subject_id = "", tag: tags = [] }: AskedProblem
        ) {
          const { rules } = yield* settings.find(workspaceId)
          const known = yield* repo.findPolicies(
            rules.flatMap(({ escalation_id }) => escalation_id ?? [])
          )
          const { channelIds, policies } = applyRules(rules, known, { event, subject_id, tags })
          const inSteps = policies.flatMap(({ steps }) => steps.flatMap((step) => step.channel_ids))
          const rows = yield* channels.listByIds(workspaceId, [...channelIds, ...inSteps])
          const byId = new Map(rows.map((row) => [row.id, recipientOf(row)]))
          const recipients = (ids: ReadonlyArray<string>) =>
            [...new Set(ids)].flatMap((id) => byId.get(id) ?? [])
          const answer: NotificationRecipients = {
            channels: recipients(channelIds),
            escalations: policies.map(({ id, steps, ...policy }) => ({
              ...Struct.pick(policy, ["key", "name", "repeat_count", "repeat_after_seconds"]),
              id: EscalationPolicyId.make(id),
              steps: steps.map(({ after_seconds, channel_ids }) => ({
                after_seconds,
                channels: recipients(channel_ids)
              }))
            }))
          }
          return answer
        })
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}

const recipientOf = (row: Parameters<typeof toChannel>[0]) =>
  Struct.pick(toChannel(row), Struct.keys(NotificationRecipient.fields))

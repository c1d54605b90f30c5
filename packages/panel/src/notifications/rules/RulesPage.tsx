import type {
  NotificationChannel,
  NotificationRule,
  NotificationRuleInput,
  NotificationSettings
} from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Plus } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../../data/client.ts"
import { Button } from "../../ui/actions/Button.tsx"
import { EmptyState, Section } from "../../ui/layout/Page.tsx"
import { Loaded } from "../../ui/messages/Loaded.tsx"
import { NotificationsPage } from "../NotificationsPage.tsx"
import { notificationSettingsOptions } from "../../recipients/queries.ts"
import { channelsOptions } from "../queries.ts"
import { RecipientsPreview } from "./RecipientsPreview.tsx"
import { Rule } from "./Rule.tsx"
import { RuleSheet } from "./RuleSheet.tsx"
import { TimingForm } from "./TimingForm.tsx"
import { useReplaceSettings } from "../useReplaceSettings.ts"
import { RoleGate } from "../../ui/role.tsx"
import { ShortTime } from "../../ui/values/Time.tsx"
import { Author } from "../../versions/Versions.tsx"

export const RulesPage = () => {
  const { workspaceId } = useWorkspace()
  const settings = useQuery(notificationSettingsOptions(workspaceId))
  const channels = useQuery(channelsOptions(workspaceId))
  const failed = settings.error === null ? channels : settings
  const data =
    settings.data === undefined || channels.data === undefined
      ? undefined
      : { settings: settings.data, channels: channels.data }
  return (
    <NotificationsPage name="rules">
      <Loaded query={{ ...failed, data }} height="h-72">
        {(loaded) => <Rules {...loaded} />}
      </Loaded>
    </NotificationsPage>
  )
}

/**
 * Compares rules by content, because rules have no ids and another user may have reordered them.
 */
const isSameValue = (one: NotificationRule | undefined, other: NotificationRule | undefined) =>
  JSON.stringify(one) === JSON.stringify(other)

/** Returns a key that a rule keeps when another user adds or removes other rules. */
const keyOf = (rules: ReadonlyArray<NotificationRule>, index: number): string => {
  const earlierCopies = rules.slice(0, index).filter((other) => isSameValue(other, rules[index]))
  return `${JSON.stringify(rules[index])} ${earlierCopies.length}`
}

const Rules = ({
  channels,
  settings
}: {
  readonly settings: NotificationSettings
  readonly channels: ReadonlyArray<NotificationChannel>
}) => {
  const { workspaceId } = useWorkspace()
  const replace = useReplaceSettings(settings)
  /** The rule being edited. An object without `rule` represents a new rule. */
  const [edited, edit] = useState<{ readonly rule?: NotificationRule }>()
  const { rules } = settings
  const save = (rule: NotificationRuleInput) => {
    const at = rules.findIndex((other) => isSameValue(other, edited?.rule))
    const before: ReadonlyArray<NotificationRuleInput> = rules
    return replace({ rules: at === -1 ? [...before, rule] : before.with(at, rule) })
  }
  return (
    <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
      <div className="flex min-w-0 flex-col gap-8">
        <Section
          title="Rules"
          actions={
            channels.length > 0 && (
              <RoleGate role="editor">
                <Button size="small" icon={<Plus />} onClick={() => edit({})}>
                  Add a rule
                </Button>
              </RoleGate>
            )
          }
        >
          {rules.length === 0 ? (
            <EmptyState title="No rules yet">
              {channels.length === 0 ? (
                <>
                  <Link
                    to="/w/$workspaceId/notifications/channels/new"
                    params={{ workspaceId }}
                    className="font-medium text-live hover:underline"
                  >
                    Create a channel first
                  </Link>
                  . A rule then decides which events it receives.
                </>
              ) : (
                "A rule decides which channels receive which events. Add a rule to be notified."
              )}
            </EmptyState>
          ) : (
            <ol className="flex flex-col gap-3">
              {rules.map((rule, index) => (
                <Rule
                  key={keyOf(rules, index)}
                  rule={rule}
                  number={index + 1}
                  channels={channels}
                  onEdit={() => edit({ rule })}
                  onRemove={() => replace({ rules: rules.filter((_, at) => at !== index) })}
                />
              ))}
            </ol>
          )}
        </Section>
        <Section title="Timing">
          <TimingForm settings={settings} />
        </Section>
        {settings.updated_at !== null && (
          <p className="text-sm text-faint">
            Changed <ShortTime at={settings.updated_at} /> by <Author actor={settings.updated_by} />
          </p>
        )}
      </div>
      <RecipientsPreview />
      {edited !== undefined && (
        <RuleSheet
          rule={edited.rule}
          channels={channels}
          onClose={() => edit(undefined)}
          onSend={save}
        />
      )}
    </div>
  )
}

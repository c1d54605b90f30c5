import type { NotificationChannel, NotificationRule, NotificationSettings } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Plus } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../../data/client.ts"
import { Button } from "../../ui/actions/Button.tsx"
import { Empty, Section, Skeleton } from "../../ui/layout/Page.tsx"
import { Problem } from "../../ui/messages/Problem.tsx"
import { NotificationsPage } from "../NotificationsPage.tsx"
import { channelsOptions, settingsOptions } from "../queries.ts"
import { Rule } from "./Rule.tsx"
import { RuleSheet } from "./RuleSheet.tsx"
import { TimingForm } from "./TimingForm.tsx"
import { useReplaceSettings } from "../useReplaceSettings.ts"
import { Only } from "../../ui/role.tsx"

export const RulesPage = () => {
  const { workspaceId } = useWorkspace()
  const settings = useQuery(settingsOptions(workspaceId))
  const channels = useQuery(channelsOptions(workspaceId))
  const error = settings.error ?? channels.error
  return (
    <NotificationsPage name="rules">
      {error !== null ? (
        <Problem error={error} />
      ) : settings.data === undefined || channels.data === undefined ? (
        <Skeleton className="h-72" />
      ) : (
        <Rules settings={settings.data} channels={channels.data} />
      )}
    </NotificationsPage>
  )
}

/** Others may have changed the rules in between, so that places say nothing. */
const isSame = (one: NotificationRule, other: NotificationRule | undefined) =>
  JSON.stringify(one) === JSON.stringify(other)

const Rules = ({
  channels,
  settings
}: {
  readonly settings: NotificationSettings
  readonly channels: ReadonlyArray<NotificationChannel>
}) => {
  const { workspaceId } = useWorkspace()
  const replace = useReplaceSettings(settings)
  /** The rule that is being written: a new one, or one of those that there are. */
  const [edited, edit] = useState<{ readonly rule?: NotificationRule }>()
  const { rules } = settings
  const save = (rule: NotificationRule) => {
    const at = rules.findIndex((other) => isSame(other, edited?.rule))
    return replace({ rules: at === -1 ? [...rules, rule] : rules.with(at, rule) })
  }
  return (
    <div className="flex max-w-[44rem] flex-col gap-8">
      <Section
        title="Who hears of what"
        actions={
          channels.length > 0 && (
            <Only role="editor">
              <Button size="small" icon={<Plus className="size-3.5" />} onClick={() => edit({})}>
                Add a rule
              </Button>
            </Only>
          )
        }
      >
        {rules.length === 0 ? (
          <Empty title="Nobody is told of anything">
            {channels.length === 0 ? (
              <>
                <Link
                  to="/w/$workspaceId/notifications/channels/new"
                  params={{ workspaceId }}
                  className="font-medium text-live hover:underline"
                >
                  Make a channel first
                </Link>
                . A rule then says what it hears of.
              </>
            ) : (
              "Add a rule that says which channel hears of what."
            )}
          </Empty>
        ) : (
          <ol className="flex flex-col gap-3">
            {rules.map((rule, index) => (
              <Rule
                key={index}
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
      <Section title="When, and how often">
        <TimingForm settings={settings} />
      </Section>
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

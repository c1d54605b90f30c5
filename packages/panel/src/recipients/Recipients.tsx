import type {
  NotificationRecipient,
  NotificationRecipients,
  NotificationSettings,
  RecipientsPolicy
} from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { useWorkspace } from "../data/client.ts"
import { channelKindNames } from "../data/channelKindNames.ts"
import { Card, Section, Skeleton } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { useDebouncedText } from "../ui/useDebouncedText.ts"
import { formatDurationOfSeconds } from "../ui/values/format.ts"
import { ApiMessage } from "../ui/values/ApiMessage.tsx"
import { Status } from "../ui/values/Status.tsx"
import { stripDirectionMarks } from "../ui/values/stripDirectionMarks.ts"
import { channelStateOf } from "./channelStateOf.ts"
import {
  activeRecipientsOf,
  notificationSettingsOptions,
  recipientsOptionsOf,
  type RecipientsSubject
} from "./queries.ts"

/** Shows who is notified when a task fails or a monitor goes down. */
export const Recipients = ({
  subject,
  title = "Who is notified"
}: {
  readonly subject: RecipientsSubject
  readonly title?: string
}) => {
  const { workspaceId } = useWorkspace()
  return (
    <Section
      title={title}
      actions={
        <Link
          to="/w/$workspaceId/notifications/rules"
          params={{ workspaceId }}
          className="text-sm text-faint hover:text-ink"
        >
          Show rules
        </Link>
      }
    >
      <Card className="p-5">
        <RecipientsContent subject={subject} />
      </Card>
    </Section>
  )
}

export const RecipientsContent = ({ subject }: { readonly subject: RecipientsSubject }) => {
  const { callback, kind } = subject
  const { workspaceId } = useWorkspace()
  // The tags in a form change with every keystroke.
  const tags = useDebouncedText(subject.tags.join(","))
    .split(",")
    .filter((one) => one !== "")
  const recipients = useQuery(recipientsOptionsOf(workspaceId, { ...subject, tags }))
  const settings = useQuery(notificationSettingsOptions(workspaceId))
  const failed = recipients.error === null ? settings : recipients
  if (failed.error !== null) return <Problem error={failed.error} retry={failed.refetch} />
  if (recipients.data === undefined || settings.data === undefined) {
    return <Skeleton className="h-12" />
  }
  return (
    <div className="flex flex-col gap-4" aria-live="polite">
      <Named recipients={recipients.data} />
      {callback !== undefined && callback !== "" && <Row name={callback} kind="Failure callback" />}
      <Timing kind={kind} settings={settings.data} />
    </div>
  )
}

/** The channels and policies named by rules. */
const Named = ({ recipients }: { readonly recipients: NotificationRecipients }) => {
  const { channels, escalations } = recipients
  if (channels.length === 0 && escalations.length === 0) {
    return <p className="text-warn">No channel is notified: no rule applies.</p>
  }
  return (
    <>
      {activeRecipientsOf(recipients).length === 0 && (
        <p className="text-warn">
          No message would be sent, because none of the channels is active.
        </p>
      )}
      {channels.length > 0 && <Channels channels={channels} />}
      {escalations.map((policy) => (
        <Escalation key={policy.id} policy={policy} />
      ))}
    </>
  )
}

const Channels = ({ channels }: { readonly channels: ReadonlyArray<NotificationRecipient> }) => (
  <ul className="flex flex-col gap-3">
    {channels.map((channel) => (
      <li key={channel.id}>
        <Channel channel={channel} />
      </li>
    ))}
  </ul>
)

const Channel = ({ channel }: { readonly channel: NotificationRecipient }) => {
  const { workspaceId } = useWorkspace()
  const { note, tone, word } = channelStateOf(channel)
  return (
    <Row
      name={
        <Link
          to="/w/$workspaceId/notifications/channels/$channelId"
          params={{ workspaceId, channelId: channel.id }}
          className="font-medium text-live underline-offset-2 hover:underline"
        >
          {stripDirectionMarks(channel.name)}
        </Link>
      }
      kind={channelKindNames[channel.kind]}
      status={
        <Status of={word} tone={tone}>
          {word}
        </Status>
      }
      note={note}
    />
  )
}

const Row = ({
  kind,
  name,
  note,
  status
}: {
  readonly name: ReactNode
  readonly kind: string
  readonly status?: ReactNode
  readonly note?: string | null | undefined
}) => (
  <div className="text-sm">
    <div className="flex items-baseline justify-between gap-4">
      <span className="min-w-0 wrap-anywhere">{name}</span>
      {status}
    </div>
    <p className="text-faint">{kind}</p>
    {note != null && (
      <p className="wrap-anywhere text-soft">
        <ApiMessage text={note} />
      </p>
    )}
  </div>
)

const Escalation = ({ policy }: { readonly policy: RecipientsPolicy }) => {
  const { workspaceId } = useWorkspace()
  const { name, repeat_after_seconds, repeat_count, steps } = policy
  return (
    <div className="flex flex-col gap-3 border-t border-line pt-4 first:border-0 first:pt-0">
      <p className="text-sm">
        Escalation policy{" "}
        <Link
          to="/w/$workspaceId/notifications/escalations"
          params={{ workspaceId }}
          className="font-medium text-live underline-offset-2 hover:underline"
        >
          {stripDirectionMarks(name)}
        </Link>
        , until somebody acknowledges the incident:
      </p>
      <ol className="flex flex-col gap-3">
        {steps.map(({ after_seconds, channels }, index) => (
          <li key={index} className="border-l-2 border-edge pl-3">
            <p className="mb-1 text-sm text-faint">
              {after_seconds === 0
                ? "Immediately"
                : `${formatDurationOfSeconds(after_seconds)} ${index === 0 ? "after the start" : "later"}`}
            </p>
            {channels.length === 0 ? (
              <p className="text-sm text-warn">
                Nobody: none of its members has a verified address.
              </p>
            ) : (
              <Channels channels={channels} />
            )}
          </li>
        ))}
      </ol>
      {repeat_count > 0 && (
        <p className="text-sm text-faint">
          Then {repeat_count === 1 ? "once" : `${repeat_count} times`} again, after{" "}
          {formatDurationOfSeconds(repeat_after_seconds)}.
        </p>
      )}
    </div>
  )
}

/** Explains how the workspace's settings delay the messages. */
const Timing = ({
  kind,
  settings: { quiet_hours, remind_every_seconds, task_failure_threshold }
}: {
  readonly kind: RecipientsSubject["kind"]
  readonly settings: NotificationSettings
}) => {
  const counts = kind === "cron" || kind === "chain"
  const notes = [
    counts && task_failure_threshold > 1
      ? `Sent after ${task_failure_threshold} failures in a row.`
      : "",
    quiet_hours === null
      ? ""
      : `Messages are held from ${quiet_hours.from} to ${quiet_hours.to} (${quiet_hours.timezone}).`,
    remind_every_seconds === null
      ? ""
      : `Reminders every ${formatDurationOfSeconds(remind_every_seconds)}.`
  ].filter((note) => note !== "")
  return notes.length === 0 ? null : <p className="text-sm text-faint">{notes.join(" ")}</p>
}

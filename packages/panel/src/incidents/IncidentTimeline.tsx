import type { IncidentDelivery, IncidentDetail, IncidentEntry } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { useWorkspace } from "../data/client.ts"
import { channelKindNames } from "../data/channelKindNames.ts"
import { actorName, useChannelNames, useMemberNames } from "../data/names.ts"
import { Button } from "../ui/actions/Button.tsx"
import { FieldError, Textarea } from "../ui/forms/Field.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import { Card, Section } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { RoleGate } from "../ui/role.tsx"
import { ApiMessage } from "../ui/values/ApiMessage.tsx"
import { StatusDot, Status } from "../ui/values/Status.tsx"
import { ShortTime, ExactTime } from "../ui/values/Time.tsx"
import { refetchIncidents } from "./queries.ts"

/** An incident's history, with a form for notes. */
export const IncidentTimeline = ({ incident }: { readonly incident: IncidentDetail }) => {
  const { deliveries, id, timeline, workspace_id } = incident
  const byId = new Map(deliveries.map((delivery) => [delivery.id, delivery]))
  return (
    <Section title="Timeline">
      <Card>
        <ol aria-label="Timeline" className="divide-y divide-line">
          {timeline.map((entry, index) => (
            <li
              key={`${entry.at} ${entry.type} ${index}`}
              className="flex items-baseline gap-x-3 px-5 py-3 max-sm:flex-wrap"
            >
              <span className="flex shrink-0 self-start pt-2">
                <StatusDot tone={tones[entry.type]} />
              </span>
              <div className="min-w-0 grow basis-0 wrap-anywhere">
                <Entry
                  entry={entry}
                  previous={timeline[index - 1]}
                  delivery={byId.get(entry.delivery_id ?? "")}
                />
              </div>
              <ExactTime
                at={entry.at}
                className="shrink-0 text-sm text-faint max-sm:w-full max-sm:pl-5"
              />
            </li>
          ))}
          {deliveries.length === 0 && (
            <li className="px-5 py-3 text-faint">Nobody was notified.</li>
          )}
        </ol>
        <RoleGate role="editor">
          <div className="border-t border-line px-5 py-3">
            <NoteForm workspaceId={workspace_id} incidentId={id} />
          </div>
        </RoleGate>
      </Card>
    </Section>
  )
}

const tones = {
  last_good: "ok",
  failure: "bad",
  opened: "bad",
  notification: "none",
  escalated: "warn",
  acknowledged: "warn",
  snoozed: "warn",
  note: "live",
  closed: "none",
  recovered: "ok"
} as const

const Entry = ({
  delivery,
  entry: { actor, execution_id, message, type, until },
  previous
}: {
  readonly entry: IncidentEntry
  readonly previous: IncidentEntry | undefined
  readonly delivery: IncidentDelivery | undefined
}): ReactNode => {
  const { workspaceId } = useWorkspace()
  const name = actorName(actor, useMemberNames(workspaceId))
  const execution = execution_id !== null && (
    <Link
      to="/w/$workspaceId/executions/$executionId"
      params={{ workspaceId, executionId: execution_id }}
      className="font-medium whitespace-nowrap text-live hover:underline"
    >
      Show execution
    </Link>
  )
  switch (type) {
    case "last_good":
      return <>Last success {execution}</>
    case "failure":
      return (
        <>
          Failed{message !== null && ": "}
          {message !== null && <ApiMessage text={message} />} {execution}
        </>
      )
    case "opened":
      // The failure that opened the incident is usually the entry above.
      return message === null || message === previous?.message ? (
        <span className="font-medium">Incident opened</span>
      ) : (
        <>
          <span className="font-medium">Incident opened:</span> <ApiMessage text={message} />
        </>
      )
    case "notification":
      return delivery === undefined ? "A message was created" : <Sent delivery={delivery} />
    case "escalated":
      return `Escalated: ${message}`
    case "acknowledged":
      return `Acknowledged by ${name}`
    case "snoozed":
      return until === null ? (
        `Snooze ended by ${name}`
      ) : (
        <>
          Snoozed by {name} until <ShortTime at={until} />
        </>
      )
    case "note":
      return (
        <>
          <span className="text-sm text-faint">Note by {name}</span>
          <span className="block whitespace-pre-wrap">{message}</span>
        </>
      )
    case "closed":
      return actor === null ? "Closed without a recovery" : `Closed by ${name}`
    case "recovered":
      return "Recovered"
  }
}

const Sent = ({
  delivery: { channel_id, id, kind, status }
}: {
  readonly delivery: IncidentDelivery
}) => {
  const { workspaceId } = useWorkspace()
  const names = useChannelNames(workspaceId)
  return (
    <span className="flex flex-wrap items-center gap-x-3">
      <Link
        to="/w/$workspaceId/notifications/deliveries/$deliveryId"
        params={{ workspaceId, deliveryId: id }}
        className="text-live underline-offset-2 hover:underline"
      >
        Message to {names.get(channel_id) ?? channelKindNames[kind]}
      </Link>
      <Status of={status} />
    </span>
  )
}

const NoteForm = ({
  incidentId,
  workspaceId
}: {
  readonly workspaceId: IncidentDetail["workspace_id"]
  readonly incidentId: IncidentDetail["id"]
}) => {
  const { api } = useWorkspace()
  const form = useForm({
    initial: { text: "" },
    send: async ({ text }) => {
      await api.incidents.addNote(incidentId, { text })
      form.set({ text: "" })
      await refetchIncidents(workspaceId)
    }
  })
  return (
    <form className="flex flex-col gap-2" onSubmit={form.submit}>
      <div className="flex items-end gap-2">
        {/* While it has text, the field keeps its height, so that the button does not move away when
            it is pressed. */}
        <Textarea
          {...form.text("text")}
          aria-label="Note"
          placeholder="Add a note"
          rows={1}
          className="resize-none py-1.5! placeholder-shown:not-focus:min-h-9"
        />
        <Button type="submit" busy={form.isBusy}>
          Add note
        </Button>
      </div>
      <FieldError error={form.errorOf("text")} />
      <Problem error={form.problem} />
    </form>
  )
}

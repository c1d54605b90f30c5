import type { Monitor, MonitorKind, SchedulingClient } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { Pencil } from "lucide-react"
import { type ComponentType, type ReactNode, useEffect, useRef } from "react"
import { useWorkspace } from "../data/client.ts"
import { monitorKinds } from "../data/monitorKinds.ts"
import { queries, withoutCache } from "../data/queries.ts"
import { ButtonLink } from "../ui/actions/Button.tsx"
import { FormEnd } from "../ui/forms/FormEnd.tsx"
import { type SendInput, sendInput } from "../ui/forms/sendInput.ts"
import { type FormOf, useForm } from "../ui/forms/useForm.ts"
import { Page } from "../ui/layout/Page.tsx"
import { LoadedPage } from "../ui/messages/Loaded.tsx"
import { notify } from "../ui/messages/toast.ts"
import { Only } from "../ui/role.tsx"
import { editMonitorLink, monitorLink } from "./links.ts"
import { type ListedEvent, MonitorEvents } from "./MonitorEvents.tsx"
import { AboveMonitors, MonitorFrame } from "./MonitorFrame.tsx"
import { MonitorMenu } from "./MonitorMenu.tsx"
import {
  pollMs,
  monitorEventsOptions,
  monitorOptions,
  type MonitorResource,
  monitorsChanged
} from "./queries.ts"
import { useOldestEvent } from "./useOldestEvent.ts"

type AnyMonitor = Omit<Monitor, "kind">

/** The parts of the pages that are specific to a monitor kind. */
interface PageParts<M extends AnyMonitor, Event, Values extends object, Input extends object> {
  readonly kind: MonitorKind
  readonly resource: (api: SchedulingClient) => MonitorResource<M, Event, Input>
  readonly form: {
    readonly description: string
    readonly action: string
    readonly initial: Values
    readonly valuesOf: (monitor: M) => Values
    readonly inputOf: (values: Values) => Input
    readonly Fields: ComponentType<{ readonly form: FormOf<Values> }>
  }
  /** A hook for the actions that only this kind has. */
  readonly useActions?: (monitor: M) => KindActions
  readonly First: ComponentType<{ readonly monitor: M }>
  readonly Aside: ComponentType<{ readonly monitor: M }>
  readonly events: ListedEvent<Event>
  /** True if monitoring starts at creation, false if it starts with the first event. */
  readonly isMonitoredAtOnce: boolean
}

interface KindActions {
  /** Buttons shown before those common to all kinds. */
  readonly buttons?: ReactNode
  readonly menuItems?: ReactNode
}

const useNoActions = (): KindActions => ({})

export interface MonitorPages {
  readonly Show: ComponentType<{ readonly monitorId: string }>
  readonly Create: ComponentType
  readonly Edit: ComponentType<{ readonly monitorId: string }>
}

export const monitorPages = <
  M extends AnyMonitor,
  Event extends Pick<Monitor, "status"> & { readonly id: string; readonly at: string },
  Values extends object,
  Input extends object
>(
  parts: PageParts<M, Event, Values, Input>
): MonitorPages => {
  const { Aside, First, form, kind, useActions = useNoActions } = parts
  const { create, name } = monitorKinds[kind]

  const Form = ({
    action,
    initial,
    latest,
    onCancel,
    onSend
  }: {
    readonly action: string
    readonly initial: Values
    readonly latest?: () => Promise<Values>
    readonly onCancel: () => void
    readonly onSend: SendInput<Input>
  }) => {
    const state = useForm({ initial, latest, send: sendInput(form.inputOf, onSend) })
    return (
      <form className="flex flex-col gap-8" onSubmit={state.submit}>
        <form.Fields form={state} />
        <FormEnd isLong form={state} action={action} needs="editor" onCancel={onCancel} />
      </form>
    )
  }

  const Actions = ({ monitor }: { readonly monitor: M }) => {
    const navigate = useNavigate()
    const { buttons, menuItems } = useActions(monitor)
    const known = { ...monitor, kind }
    return (
      <>
        {buttons}
        <Only role="editor">
          <ButtonLink {...editMonitorLink(known)} icon={<Pencil />}>
            Edit
          </ButtonLink>
          <MonitorMenu
            monitor={known}
            onRemoved={() =>
              void navigate({
                to: "/w/$workspaceId/monitors",
                params: { workspaceId: monitor.workspace_id },
                replace: true
              })
            }
          >
            {menuItems}
          </MonitorMenu>
        </Only>
      </>
    )
  }

  return {
    Show: ({ monitorId }) => {
      const { api, workspaceId } = useWorkspace()
      const resource = parts.resource(api)
      const events = monitorEventsOptions(resource, workspaceId, monitorId)
      const query = useQuery({
        ...monitorOptions(resource, workspaceId, monitorId),
        refetchInterval: pollMs
      })
      const { data } = query
      const oldest = useOldestEvent(events, parts.isMonitoredAtOnce ? data?.created_at : undefined)
      const shown = useRef(data)
      useEffect(() => {
        // Older events would contradict the new state of the monitor.
        if (shown.current !== undefined && shown.current !== data) {
          void queries.invalidateQueries({ queryKey: events.queryKey })
        }
        shown.current = data
      })
      return (
        <LoadedPage query={query} name={name} above={<AboveMonitors workspaceId={workspaceId} />}>
          {(monitor) => (
            <MonitorFrame
              monitor={monitor}
              oldest={oldest}
              actions={<Actions monitor={monitor} />}
              first={<First monitor={monitor} />}
              aside={<Aside monitor={monitor} />}
            >
              <MonitorEvents options={events} {...parts.events} />
            </MonitorFrame>
          )}
        </LoadedPage>
      )
    },

    Create: () => {
      const { api, workspaceId } = useWorkspace()
      const navigate = useNavigate()
      return (
        <Page
          title={create}
          above={<AboveMonitors workspaceId={workspaceId} />}
          description={form.description}
          width="narrow"
        >
          <Form
            action={form.action}
            initial={form.initial}
            onCancel={() =>
              void navigate({ to: "/w/$workspaceId/monitors", params: { workspaceId } })
            }
            onSend={async (input) => {
              const created = await parts.resource(api).create(input)
              notify(`${created.name} was created`)
              void monitorsChanged(workspaceId)
              await navigate(monitorLink({ ...created, kind }))
            }}
          />
        </Page>
      )
    },

    Edit: ({ monitorId }) => {
      const { api, workspaceId } = useWorkspace()
      const navigate = useNavigate()
      const resource = parts.resource(api)
      const options = monitorOptions(resource, workspaceId, monitorId)
      const back = () => navigate(monitorLink({ id: monitorId, kind, workspace_id: workspaceId }))
      const above = <AboveMonitors workspaceId={workspaceId} />
      return (
        <LoadedPage query={useQuery(options)} name="Edit" above={above} width="narrow">
          {(monitor) => (
            <Page title={`Edit ${monitor.name}`} above={above} width="narrow">
              <Form
                action="Save changes"
                initial={form.valuesOf(monitor)}
                latest={async () => form.valuesOf(await queries.fetchQuery(withoutCache(options)))}
                onCancel={() => void back()}
                onSend={async (_, patch) => {
                  await patch((changes) => resource.update(monitorId, changes))
                  notify(`${monitor.name} was changed`)
                  await monitorsChanged(workspaceId)
                  await back()
                }}
              />
            </Page>
          )}
        </LoadedPage>
      )
    }
  }
}

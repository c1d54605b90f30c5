import type { Monitor, MonitorKind, SchedulingClient } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useLocation, useNavigate } from "@tanstack/react-router"
import { Pencil } from "lucide-react"
import { type ComponentType, type ReactNode, useEffect, useRef } from "react"
import { useWorkspace } from "../data/client.ts"
import { monitorKinds } from "../data/monitorKinds.ts"
import { queryClient, bypassCache } from "../data/queries.ts"
import { type MonitorDefinition, targetOf } from "../data/targets.ts"
import {
  DependsOnField,
  dependsOnFacts,
  type DependsOnValues,
  dependsOnValuesOf
} from "../incidents/DependsOn.tsx"
import { NobodyNotified } from "../recipients/NobodyNotified.tsx"
import { Recipients } from "../recipients/Recipients.tsx"
import { ButtonLink } from "../ui/actions/Button.tsx"
import { FormColumns } from "../ui/forms/FormColumns.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { type SendInput, sendInput } from "../ui/forms/sendInput.ts"
import { parseTags } from "../ui/forms/parseTags.ts"
import { type FormOf, useForm } from "../ui/forms/useForm.ts"
import { Card, FactsSection, Page, Section } from "../ui/layout/Page.tsx"
import { LoadedPage } from "../ui/messages/Loaded.tsx"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { RoleGate } from "../ui/role.tsx"
import { useNavigateAfterAction } from "../ui/useNavigateAfterAction.ts"
import { Versions } from "../versions/Versions.tsx"
import { editMonitorLink, monitorLink } from "./links.ts"
import { type EventListOptions, MonitorEvents } from "./MonitorEvents.tsx"
import { MonitorListLink, MonitorPageLayout } from "./MonitorPageLayout.tsx"
import { MonitorMenu } from "./MonitorMenu.tsx"
import {
  pollMonitorMs,
  monitorEventsOptions,
  monitorOptions,
  type MonitorResource,
  refetchMonitors,
  monitorsQueryKey
} from "./queries.ts"
import { useOldestResult } from "./useOldestResult.ts"

export interface NamedValues {
  readonly tags: string
}

/** The parts of the pages that are specific to a monitor kind. */
export interface PageParts<
  M extends MonitorDefinition,
  Event,
  Values extends NamedValues,
  Input extends object
> {
  readonly kind: MonitorKind
  readonly resource: (api: SchedulingClient) => MonitorResource<M, Event, Input>
  readonly form: {
    readonly description: string
    readonly action: string
    readonly initial: Values
    readonly valuesOf: (monitor: M) => Values
    readonly inputOf: (values: Values) => Input
    readonly Fields: ComponentType<{ readonly form: FormOf<Values> }>
    /** A preview of the values' effect, beside the fields. */
    readonly Preview: ComponentType<{ readonly values: Values }>
  }
  /** A hook for the actions that only this kind of monitor has. */
  readonly useActions?: (monitor: M) => KindActions
  readonly First: ComponentType<{ readonly monitor: M }>
  readonly Aside: ComponentType<{ readonly monitor: M }>
  readonly events: EventListOptions<Event>
  /** True if monitoring starts at creation, false if it starts at the first event. */
  readonly isMonitoredAtOnce: boolean
}

interface KindActions {
  /** Buttons shown before the buttons that all kinds share. */
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
  M extends MonitorDefinition,
  Event extends Pick<Monitor, "status"> & { readonly id: string; readonly at: string },
  Values extends NamedValues,
  Input extends object
>(
  parts: PageParts<M, Event, Values, Input>
): MonitorPages => {
  const { Aside, First, form, kind, useActions = useNoActions } = parts
  const { create, name } = monitorKinds[kind]

  const valuesOf = (monitor: M): Values & DependsOnValues => ({
    ...form.valuesOf(monitor),
    ...dependsOnValuesOf(monitor)
  })
  const inputOf = (values: Values & DependsOnValues): Input & DependsOnValues => ({
    ...form.inputOf(values),
    depends_on: values.depends_on
  })

  const Form = ({
    action,
    initial,
    latest,
    monitorId,
    onCancel,
    onSend
  }: {
    readonly action: string
    readonly initial: Values & DependsOnValues
    readonly latest?: () => Promise<Values & DependsOnValues>
    readonly onCancel: () => void
    readonly onSend: SendInput<Input & DependsOnValues>
    /** Undefined for a new monitor. */
    readonly monitorId?: string
  }) => {
    const { href: draftKey } = useLocation()
    const state = useForm({ draftKey, initial, latest, send: sendInput(inputOf, onSend) })
    return (
      <FormColumns
        onSubmit={state.submit}
        footer={
          <FormFooter isLong form={state} action={action} needs="editor" onCancel={onCancel} />
        }
        preview={
          <>
            <form.Preview values={state.values} />
            <Recipients
              title="Who would be notified"
              subject={{ kind, id: monitorId, tags: parseTags(state.values.tags) }}
            />
          </>
        }
      >
        {/* The kind's fields change only their own values, not the dependencies. */}
        <form.Fields form={state as unknown as FormOf<Values>} />
        <Section title="Dependencies">
          <Card className="p-5">
            <DependsOnField
              values={state.values}
              onChange={(change) => state.set(change as Partial<Values & DependsOnValues>)}
              error={state.errorOf("depends_on")}
            />
          </Card>
        </Section>
      </FormColumns>
    )
  }

  const Actions = ({ monitor }: { readonly monitor: M }) => {
    const navigate = useNavigateAfterAction()
    const { buttons, menuItems } = useActions(monitor)
    const known = { ...monitor, kind }
    return (
      <>
        {buttons}
        <RoleGate role="editor">
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
        </RoleGate>
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
        refetchInterval: pollMonitorMs
      })
      const { data } = query
      const oldest = useOldestResult(events, parts.isMonitoredAtOnce ? data?.created_at : undefined)
      const shown = useRef(data)
      useEffect(() => {
        // Refetch the events with the monitor, because older events would contradict its new state.
        if (shown.current !== undefined && shown.current !== data) {
          void queryClient.invalidateQueries({ queryKey: events.queryKey })
        }
        shown.current = data
      })
      return (
        <LoadedPage query={query} name={name} above={<MonitorListLink workspaceId={workspaceId} />}>
          {(monitor) => {
            const subject = { kind, id: monitor.id, tags: monitor.tags }
            return (
              <MonitorPageLayout
                notice={<NobodyNotified subject={subject} />}
                monitor={monitor}
                oldest={oldest}
                target={targetOf(monitor)}
                actions={<Actions monitor={monitor} />}
                first={<First monitor={monitor} />}
                aside={
                  <>
                    <Aside monitor={monitor} />
                    {monitor.depends_on.length > 0 && (
                      <FactsSection
                        title="Dependencies"
                        facts={dependsOnFacts(monitor.depends_on)}
                      />
                    )}
                    <Recipients subject={subject} />
                    <Versions
                      record={monitor}
                      resource={resource}
                      queryKey={monitorsQueryKey(workspaceId)}
                      onRestored={() => refetchMonitors(workspaceId)}
                    />
                  </>
                }
              >
                <MonitorEvents options={events} {...parts.events} />
              </MonitorPageLayout>
            )
          }}
        </LoadedPage>
      )
    },

    Create: () => {
      const { api, workspaceId } = useWorkspace()
      const navigate = useNavigate()
      const navigateAfterAction = useNavigateAfterAction()
      return (
        <Page
          title={create}
          above={<MonitorListLink workspaceId={workspaceId} />}
          description={form.description}
        >
          <Form
            action={form.action}
            initial={{ ...form.initial, depends_on: [] }}
            onCancel={() =>
              void navigate({ to: "/w/$workspaceId/monitors", params: { workspaceId } })
            }
            onSend={async (input) => {
              const created = await parts.resource(api).create(input)
              showSuccessToast(`${created.name} was created`)
              void refetchMonitors(workspaceId)
              await navigateAfterAction(monitorLink({ ...created, kind }))
            }}
          />
        </Page>
      )
    },

    Edit: ({ monitorId }) => {
      const { api, workspaceId } = useWorkspace()
      const navigate = useNavigate()
      const navigateAfterAction = useNavigateAfterAction()
      const resource = parts.resource(api)
      const options = monitorOptions(resource, workspaceId, monitorId)
      const shown = monitorLink({ id: monitorId, kind, workspace_id: workspaceId })
      const above = <MonitorListLink workspaceId={workspaceId} />
      return (
        <LoadedPage query={useQuery(options)} name="Edit" above={above}>
          {(monitor) => (
            <Page title={`Edit ${monitor.name}`} above={above}>
              <Form
                action="Save changes"
                monitorId={monitorId}
                initial={valuesOf(monitor)}
                latest={async () => valuesOf(await queryClient.fetchQuery(bypassCache(options)))}
                onCancel={() => void navigate(shown)}
                onSend={async (_, patch) => {
                  await patch((changes) => resource.update(monitorId, changes))
                  showSuccessToast(`${monitor.name} was changed`)
                  await refetchMonitors(workspaceId)
                  await navigateAfterAction(shown)
                }}
              />
            </Page>
          )}
        </LoadedPage>
      )
    }
  }
}

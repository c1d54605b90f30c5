import type { MonitorKind, MonitorId } from "@scheduling/sdk"
import { useQuery, type UseQueryOptions } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { Pencil } from "lucide-react"
import type { ReactNode } from "react"
import { useWorkspace } from "../data/client.ts"
import { anew, queries } from "../data/queries.ts"
import { ButtonLink } from "../ui/actions/Button.tsx"
import type { SendInput } from "../ui/forms/sendInput.ts"
import { Loaded } from "../ui/messages/Loaded.tsx"
import { Page } from "../ui/layout/Page.tsx"
import { tell } from "../ui/messages/toast.ts"
import { editMonitorLink, type KnownMonitor, monitorLink } from "./links.ts"
import { AboveMonitors } from "./MonitorFrame.tsx"
import { MonitorMenu } from "./MonitorMenu.tsx"
import { monitorsChanged } from "./queries.ts"
import { Only } from "../ui/role.tsx"

/** What the form of a monitor does at its end. */
interface FormEnds<Input> {
  readonly onCancel: () => void
  readonly onSend: SendInput<Input>
}

/** Further actions of the form that edits a monitor. */
interface EditEnds<Values, Input> extends FormEnds<Input> {
  readonly initial: Values
  readonly latest: () => Promise<Values>
}

interface Named {
  readonly id: MonitorId
  readonly name: string
}

/** Makes a monitor of any kind. */
export const NewMonitor = <Input,>({
  children,
  description,
  kind,
  onCreate,
  title
}: {
  readonly kind: MonitorKind
  readonly title: string
  readonly description: string
  readonly onCreate: (input: Input) => Promise<Named>
  readonly children: (ends: FormEnds<Input>) => ReactNode
}) => {
  const { workspaceId } = useWorkspace()
  const navigate = useNavigate()
  return (
    <Page
      title={title}
      above={<AboveMonitors workspaceId={workspaceId} />}
      description={description}
      width="narrow"
    >
      {children({
        onCancel: () => void navigate({ to: "/w/$workspaceId/monitors", params: { workspaceId } }),
        onSend: async (input) => {
          const { id, name } = await onCreate(input)
          tell(`${name} was created`)
          void monitorsChanged(workspaceId)
          await navigate(monitorLink({ id, kind, workspace_id: workspaceId }))
        }
      })}
    </Page>
  )
}

/** Changes a monitor of any kind. */
export const EditMonitor = <Monitor extends Named, Values, Input>({
  children,
  kind,
  monitorId,
  onUpdate,
  options,
  valuesOf
}: {
  readonly kind: MonitorKind
  readonly monitorId: MonitorId
  // oxlint-disable-next-line typescript/no-explicit-any -- the key of a query is of no concern here
  readonly options: UseQueryOptions<Monitor, Error, Monitor, any>
  readonly onUpdate: (changes: Partial<Input>) => Promise<unknown>
  readonly valuesOf: (monitor: Monitor) => Values
  readonly children: (ends: EditEnds<Values, Input>) => ReactNode
}) => {
  const { workspaceId } = useWorkspace()
  const navigate = useNavigate()
  const back = () => navigate(monitorLink({ id: monitorId, kind, workspace_id: workspaceId }))
  const above = <AboveMonitors workspaceId={workspaceId} />
  return (
    <Loaded query={useQuery(options)} name="Edit" above={above} width="narrow">
      {(monitor) => (
        <Page title={`Edit ${monitor.name}`} above={above} width="narrow">
          {children({
            initial: valuesOf(monitor),
            latest: async () => valuesOf(await queries.fetchQuery(anew(options))),
            onCancel: () => void back(),
            onSend: async (_, patch) => {
              await patch(onUpdate)
              tell(`${monitor.name} was changed`)
              await monitorsChanged(workspaceId)
              await back()
            }
          })}
        </Page>
      )}
    </Loaded>
  )
}

/** What can be done with a monitor of any kind, on its page. */
export const MonitorActions = ({
  children,
  monitor
}: {
  readonly monitor: KnownMonitor & Parameters<typeof MonitorMenu>[0]["monitor"]
  /** What only its kind can do. */
  readonly children?: ReactNode
}) => {
  const { workspaceId } = useWorkspace()
  const navigate = useNavigate()
  return (
    <Only role="editor">
      <ButtonLink {...editMonitorLink(monitor)} icon={<Pencil className="size-4" />}>
        Edit
      </ButtonLink>
      <MonitorMenu
        monitor={monitor}
        onRemoved={() =>
          void navigate({ to: "/w/$workspaceId/monitors", params: { workspaceId }, replace: true })
        }
      >
        {children}
      </MonitorMenu>
    </Only>
  )
}

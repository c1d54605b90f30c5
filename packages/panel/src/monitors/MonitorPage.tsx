import type { MonitorKind } from "@scheduling/sdk"
import { useParams } from "@tanstack/react-router"
import { monitorPagesByKind } from "./kinds.ts"

/** Returns the pages of a monitor kind. The route has already checked that the kind exists. */
const pagesOf = (kind: string) => monitorPagesByKind[kind as MonitorKind]

export const MonitorPage = () => {
  const { kind, monitorId } = useParams({
    from: "/inside/w/$workspaceId/monitors/$kind/$monitorId"
  })
  const { Show } = pagesOf(kind)
  return <Show monitorId={monitorId} />
}

export const NewMonitorPage = () => {
  const { kind } = useParams({ from: "/inside/w/$workspaceId/monitors/$kind/new" })
  const { Create } = pagesOf(kind)
  return <Create />
}

export const EditMonitorPage = () => {
  const { kind, monitorId } = useParams({
    from: "/inside/w/$workspaceId/monitors/$kind/$monitorId/edit"
  })
  const { Edit } = pagesOf(kind)
  return <Edit monitorId={monitorId} />
}

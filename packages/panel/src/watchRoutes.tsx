import { createRoute, notFound } from "@tanstack/react-router"
import { lazyPage } from "./app/lazyPage.ts"
import { monitorKinds } from "./data/monitorKinds.ts"
import { incidentSearch } from "./incidents/search.ts"
import { monitorSearch } from "./monitors/search.ts"
import { deliverySearch, newChannelSearch } from "./notifications/search.ts"
import { workspace } from "./parentRoutes.tsx"

const refuseUnknownKind = (kind: string) => {
  if (!Object.hasOwn(monitorKinds, kind)) throw notFound()
}

/** What is watched, and what came of it. */
export const watchRoutes = [
  createRoute({
    getParentRoute: () => workspace,
    path: "/monitors",
    validateSearch: monitorSearch,
    component: lazyPage(() => import("./monitors/MonitorListPage.tsx"), "MonitorListPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/monitors/$kind/new",
    beforeLoad: ({ params: { kind } }) => refuseUnknownKind(kind),
    component: lazyPage(() => import("./monitors/MonitorPage.tsx"), "NewMonitorPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/monitors/$kind/$monitorId",
    beforeLoad: ({ params: { kind } }) => refuseUnknownKind(kind),
    component: lazyPage(() => import("./monitors/MonitorPage.tsx"), "MonitorPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/monitors/$kind/$monitorId/edit",
    beforeLoad: ({ params: { kind } }) => refuseUnknownKind(kind),
    component: lazyPage(() => import("./monitors/MonitorPage.tsx"), "EditMonitorPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/incidents",
    validateSearch: incidentSearch,
    component: lazyPage(() => import("./incidents/IncidentListPage.tsx"), "IncidentListPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/incidents/$incidentId",
    component: lazyPage(() => import("./incidents/IncidentPage.tsx"), "IncidentPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/notifications",
    component: lazyPage(
      () => import("./notifications/channels/ChannelListPage.tsx"),
      "ChannelListPage"
    )
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/notifications/rules",
    component: lazyPage(() => import("./notifications/rules/RulesPage.tsx"), "RulesPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/notifications/channels/new",
    validateSearch: newChannelSearch,
    component: lazyPage(
      () => import("./notifications/channels/NewChannelPage.tsx"),
      "NewChannelPage"
    )
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/notifications/channels/$channelId",
    component: lazyPage(() => import("./notifications/channels/ChannelPage.tsx"), "ChannelPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/notifications/deliveries",
    validateSearch: deliverySearch,
    component: lazyPage(
      () => import("./notifications/deliveries/DeliveryListPage.tsx"),
      "DeliveryListPage"
    )
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/notifications/deliveries/$deliveryId",
    component: lazyPage(() => import("./notifications/deliveries/DeliveryPage.tsx"), "DeliveryPage")
  })
] as const

import { createRoute } from "@tanstack/react-router"
import { lazyPage } from "./app/lazyPage.ts"
import { incidentSearch } from "./incidents/search.ts"
import { monitorSearch } from "./monitors/search.ts"
import { deliverySearch, newChannelSearch } from "./notifications/search.ts"
import { workspace } from "./parentRoutes.tsx"

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
    path: "/monitors/heartbeat/new",
    component: lazyPage(
      () => import("./monitors/heartbeat/NewHeartbeatPage.tsx"),
      "NewHeartbeatPage"
    )
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/monitors/heartbeat/$monitorId",
    component: lazyPage(() => import("./monitors/heartbeat/HeartbeatPage.tsx"), "HeartbeatPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/monitors/heartbeat/$monitorId/edit",
    component: lazyPage(
      () => import("./monitors/heartbeat/EditHeartbeatPage.tsx"),
      "EditHeartbeatPage"
    )
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/monitors/ssl/new",
    component: lazyPage(() => import("./monitors/ssl/NewSslPage.tsx"), "NewSslPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/monitors/ssl/$monitorId",
    component: lazyPage(() => import("./monitors/ssl/SslPage.tsx"), "SslPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/monitors/ssl/$monitorId/edit",
    component: lazyPage(() => import("./monitors/ssl/EditSslPage.tsx"), "EditSslPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/monitors/process/new",
    component: lazyPage(() => import("./monitors/process/NewProcessPage.tsx"), "NewProcessPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/monitors/process/$monitorId",
    component: lazyPage(() => import("./monitors/process/ProcessPage.tsx"), "ProcessPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/monitors/process/$monitorId/edit",
    component: lazyPage(() => import("./monitors/process/EditProcessPage.tsx"), "EditProcessPage")
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

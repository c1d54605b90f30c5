import { createRoute, redirect } from "@tanstack/react-router"
import { lazyPage } from "./app/lazyPage.ts"
import { lastWorkspace } from "./app/lastWorkspace.ts"
import { requireSession } from "./app/requireSession.ts"
import { loadList, queries, workspacesOptions } from "./data/queries.ts"
import { askForOverview } from "./overview/askForOverview.ts"
import { takeLinkToken } from "./sign-in/linkToken.ts"
import { usageSearch } from "./billing/search.ts"
import { given, textIn } from "./ui/lists/search.ts"
import { executionListOptions, scheduledListOptions } from "./executions/queries.ts"
import { executionSearch } from "./executions/search.ts"
import { chainQueries } from "./tasks/chains/queries.ts"
import { cronQueries } from "./tasks/cron/queries.ts"
import { forecastSearch } from "./forecast/search.ts"
import { delayedQueries } from "./tasks/delayed/queries.ts"
import { copySearch, delayedSearch, repeatingSearch, runSearch } from "./tasks/search.ts"
import { inside, root, workspace } from "./parentRoutes.tsx"
import { watchRoutes } from "./watchRoutes.tsx"
import { workspaceRoutes } from "./workspaceRoutes.tsx"

// The addresses of the panel. Each page is loaded when somebody goes there.

const nextSearch = ({ next }: Record<string, unknown>): { readonly next?: string } =>
  // A path of our own. `//evil.example` would lead elsewhere.
  typeof next === "string" && /^\/(?![/\\])/.test(next) ? { next } : {}

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: nextSearch,
  component: lazyPage(() => import("./sign-in/SignInPage.tsx"), "SignInPage")
})

const register = createRoute({
  getParentRoute: () => root,
  path: "/register",
  validateSearch: nextSearch,
  component: lazyPage(() => import("./sign-in/RegisterPage.tsx"), "RegisterPage")
})

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: "/forgot-password",
  component: lazyPage(() => import("./sign-in/ForgotPasswordPage.tsx"), "ForgotPasswordPage")
})

const resetPassword = createRoute({
  getParentRoute: () => root,
  path: "/reset-password",
  component: lazyPage(() => import("./sign-in/ResetPasswordPage.tsx"), "ResetPasswordPage")
})

const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitation",
  beforeLoad: ({ location }) => {
    takeLinkToken()
    return requireSession(location)
  },
  component: lazyPage(() => import("./sign-in/InvitationPage.tsx"), "InvitationPage")
})

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  // The payment provider sends people back here.
  validateSearch: (search): ReturnType<typeof usageSearch> & { readonly workspace?: string } =>
    given({ ...usageSearch(search), workspace: textIn(search["workspace"]) }),
  beforeLoad: async ({ location, search: { checkout, workspace: named } }) => {
    await requireSession(location)
    const workspaces = await queries.ensureQueryData(workspacesOptions)
    const wanted = named ?? lastWorkspace()
    const known = workspaces.find(({ id }) => id === wanted) ?? workspaces.at(-1)
    if (known === undefined) throw redirect({ to: "/welcome", replace: true })
    const params = { workspaceId: known.id }
    throw checkout === undefined
      ? redirect({ to: "/w/$workspaceId", params, replace: true })
      : redirect({ to: "/w/$workspaceId/usage", params, search: { checkout }, replace: true })
  }
})

const welcome = createRoute({
  getParentRoute: () => inside,
  path: "/welcome",
  component: lazyPage(() => import("./app/WelcomePage.tsx"), "WelcomePage")
})

const account = createRoute({
  getParentRoute: () => inside,
  path: "/account/settings",
  component: lazyPage(() => import("./account/AccountPage.tsx"), "AccountPage")
})

const overview = createRoute({
  getParentRoute: () => workspace,
  path: "/",
  loader: ({ params: { workspaceId } }) => askForOverview(workspaceId),
  component: lazyPage(() => import("./overview/OverviewPage.tsx"), "OverviewPage")
})

const forecast = createRoute({
  getParentRoute: () => workspace,
  path: "/forecast",
  validateSearch: forecastSearch,
  component: lazyPage(() => import("./forecast/ForecastPage.tsx"), "ForecastPage")
})

const cron = createRoute({
  getParentRoute: () => workspace,
  path: "/cron",
  validateSearch: repeatingSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps, params: { workspaceId } }) => loadList(cronQueries.list(workspaceId, deps)),
  component: lazyPage(() => import("./tasks/cron/CronListPage.tsx"), "CronListPage")
})

const newCron = createRoute({
  getParentRoute: () => workspace,
  path: "/cron/new",
  validateSearch: copySearch,
  component: lazyPage(() => import("./tasks/cron/NewCronPage.tsx"), "NewCronPage")
})

const oneCron = createRoute({
  getParentRoute: () => workspace,
  path: "/cron/$taskId",
  component: lazyPage(() => import("./tasks/cron/CronPage.tsx"), "CronPage")
})

const editCron = createRoute({
  getParentRoute: () => workspace,
  path: "/cron/$taskId/edit",
  component: lazyPage(() => import("./tasks/cron/EditCronPage.tsx"), "EditCronPage")
})

const delayed = createRoute({
  getParentRoute: () => workspace,
  path: "/delayed",
  validateSearch: delayedSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps, params: { workspaceId } }) => loadList(delayedQueries.list(workspaceId, deps)),
  component: lazyPage(() => import("./tasks/delayed/DelayedListPage.tsx"), "DelayedListPage")
})

const newDelayed = createRoute({
  getParentRoute: () => workspace,
  path: "/delayed/new",
  validateSearch: copySearch,
  component: lazyPage(() => import("./tasks/delayed/NewDelayedPage.tsx"), "NewDelayedPage")
})

const oneDelayed = createRoute({
  getParentRoute: () => workspace,
  path: "/delayed/$taskId",
  component: lazyPage(() => import("./tasks/delayed/DelayedPage.tsx"), "DelayedPage")
})

const chains = createRoute({
  getParentRoute: () => workspace,
  path: "/chains",
  validateSearch: repeatingSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps, params: { workspaceId } }) => loadList(chainQueries.list(workspaceId, deps)),
  component: lazyPage(() => import("./tasks/chains/ChainListPage.tsx"), "ChainListPage")
})

const newChain = createRoute({
  getParentRoute: () => workspace,
  path: "/chains/new",
  validateSearch: copySearch,
  component: lazyPage(() => import("./tasks/chains/NewChainPage.tsx"), "NewChainPage")
})

const oneChain = createRoute({
  getParentRoute: () => workspace,
  path: "/chains/$taskId",
  validateSearch: runSearch,
  component: lazyPage(() => import("./tasks/chains/ChainPage.tsx"), "ChainPage")
})

const editChain = createRoute({
  getParentRoute: () => workspace,
  path: "/chains/$taskId/edit",
  component: lazyPage(() => import("./tasks/chains/EditChainPage.tsx"), "EditChainPage")
})

const executions = createRoute({
  getParentRoute: () => workspace,
  path: "/executions",
  validateSearch: executionSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps, params: { workspaceId } }) => loadList(executionListOptions(workspaceId, deps)),
  component: lazyPage(() => import("./executions/ExecutionsPage.tsx"), "ExecutionsPage")
})

const scheduledExecutions = createRoute({
  getParentRoute: () => workspace,
  path: "/executions/scheduled",
  loader: ({ params: { workspaceId } }) => loadList(scheduledListOptions(workspaceId)),
  component: lazyPage(() => import("./executions/ScheduledPage.tsx"), "ScheduledPage")
})

const oneExecution = createRoute({
  getParentRoute: () => workspace,
  path: "/executions/$executionId",
  component: lazyPage(() => import("./executions/ExecutionPage.tsx"), "ExecutionPage")
})

export const routeTree = root.addChildren([
  home,
  signIn,
  register,
  forgotPassword,
  resetPassword,
  invitation,
  inside.addChildren([
    welcome,
    account,
    workspace.addChildren([
      overview,
      forecast,
      cron,
      newCron,
      oneCron,
      editCron,
      delayed,
      newDelayed,
      oneDelayed,
      chains,
      newChain,
      oneChain,
      editChain,
      executions,
      scheduledExecutions,
      oneExecution,
      ...watchRoutes,
      ...workspaceRoutes
    ])
  ])
])

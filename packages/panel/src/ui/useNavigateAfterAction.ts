import { type NavigateOptions, useLocation, useNavigate, useRouter } from "@tanstack/react-router"

/**
 * Returns a function that opens the page to which an action leads, unless the user has gone to
 * another page while the action was in progress.
 */
export const useNavigateAfterAction = () => {
  const navigate = useNavigate()
  const router = useRouter()
  const startedAt = useLocation({ select: ({ pathname }) => pathname })
  return async (to: NavigateOptions): Promise<void> => {
    if (router.latestLocation.pathname !== startedAt) return
    // The form of the action may still be busy, which would ask for a confirmation.
    await navigate({ ...to, ignoreBlocker: true })
  }
}

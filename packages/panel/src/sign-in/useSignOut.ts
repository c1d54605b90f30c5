import { useNavigate } from "@tanstack/react-router"
import { session } from "../data/session.ts"
import { showErrorToast } from "../ui/messages/toast.ts"

/**
 * Returns a function that signs out and shows the sign-in page. `next` is the page to show after
 * signing in again.
 */
export const useSignOut = () => {
  const navigate = useNavigate()
  return async (search: { readonly next?: string } = {}) => {
    try {
      await session.signOut()
      await navigate({ to: "/sign-in", search, ignoreBlocker: true })
    } catch (error) {
      showErrorToast(error)
    }
  }
}

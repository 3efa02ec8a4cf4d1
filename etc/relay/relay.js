// The page of index.html, and the service worker that takes the forms of servers that answer by one (Apple): a host of static
// files takes no forms, and so never sees what is in them. What comes is written into the page, to be pasted into
// `authctl login --flow paste`; it is in no address that a browser would send to the host, or remember.
"use strict";

if (typeof document === "undefined") {
    self.addEventListener("install", () => self.skipWaiting());
    self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
    self.addEventListener("fetch", (event) => {
        const { request } = event;
        if (request.method === "POST" && request.mode === "navigate") event.respondWith(readBack(request));
    });
} else {
    window.addEventListener("load", show);
}

async function readBack(request) {
    // Percent-encoded: of what means something in HTML, only "&" is left.
    const answer = new URLSearchParams(await request.formData()).toString().replaceAll("&", "&amp;");
    const page = await (await fetch(self.registration.scope)).text();
    const headers = { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" };
    return new Response(page.replace("<main>", () => `<main data-answer="${answer}">`), { headers });
}

async function show() {
    const here = location.origin + location.pathname;
    const brought = document.querySelector("main").dataset.answer ?? location.search.slice(1);
    const answer = new URLSearchParams(brought);
    if (answer.has("code") || answer.has("error")) {
        const address = `${here}?${brought}`;
        // A bookmark of the page needs no answer.
        history.replaceState(null, "", here);
        tell("Back from the sign-in", "Copy this address, and paste it where authctl asks for it:");
        document.getElementById("address").textContent = address;
        document.getElementById("answer").hidden = false;
        document.getElementById("copy").addEventListener("click", () => navigator.clipboard.writeText(address));
        return;
    }
    try {
        await navigator.serviceWorker.register("relay.js");
        await navigator.serviceWorker.ready;
        tell("Ready", "This browser can be sent back here from a sign-in now. Begin it: authctl login ACCOUNT --flow paste");
    } catch (error) {
        tell("This browser cannot be used", `It keeps no service worker for this page (${error.message}), and could take no form.`);
    }
}

function tell(title, text) {
    document.title = title;
    document.getElementById("title").textContent = title;
    document.getElementById("text").textContent = text;
}

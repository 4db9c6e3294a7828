/* What Azure's CNI plugin leaves on a node; shared by the plugin's row and its agents'. */
#pragma once

/* Its working directory is containerd's, which a service has from Windows. */
#define AZURE_FOLDER "C:\\Windows\\System32\\"
/* What it knows of networks, addresses (cni/plugin.go, store/json.go; *.json.lock: before 1.2). */
#define AZURE_STATE_FILE AZURE_FOLDER "azure-vnet.json"
#define AZURE_STATE_FILES                                                                          \
    AZURE_STATE_FILE, AZURE_FOLDER "azure-vnet.lock", AZURE_FOLDER "azure-vnet.json.lock",         \
        AZURE_FOLDER "azure-vnet-ipam.json", AZURE_FOLDER "azure-vnet-ipam.lock",                  \
        AZURE_FOLDER "azure-vnet-ipam.json.lock", "C:\\k\\azurecns\\azure-endpoints.json"

"""One of CARMA's convolutional workloads: an epoch of training and validation, in fp32 with PyTorch's defaults.

    python carma_cnn.py MODEL BATCH

What workloads/MODEL.py of itu-rad/CARMA does with its card, in our words: the model moves there, torchsummary runs it once on two samples, Adam (ImageNet) or AdamW
(CIFAR-100) trains it, then it is evaluated.  An epoch here is a few full batches and the remainder that ends an epoch there.  What differs: pixels and labels
are made up, parameters are left as they come.
"""

import argparse

import torch
from torch import nn

IMAGENET = {"train": 1_281_167, "val": 50_000, "classes": 1000}
CIFAR = {"train": 50_000, "val": 10_000, "classes": 100}
STEPS = 6


def torchvision_model(name):
    from torchvision import models

    return getattr(models, name)


def with_new_head(name, head, index=None):
    def make():
        model = torchvision_model(name)(weights=None)
        part = getattr(model, head)
        if index is None:
            setattr(model, head, nn.Linear(part.in_features, 1000))
        else:
            part[index] = nn.Linear(part[index].in_features, 1000)
        return model

    return make


def timm_model(name, classes):
    def make():
        import timm

        return timm.create_model(name, pretrained=False, num_classes=classes)

    return make


MODELS = {
    "resnet50": (with_new_head("resnet50", "fc"), 224, IMAGENET),
    "efficientNet": (with_new_head("efficientnet_b0", "classifier", 1), 224, IMAGENET),
    "vgg": (with_new_head("vgg16", "classifier", 6), 224, IMAGENET),
    "Inception": (lambda: torchvision_model("inception_v3")(weights=None, aux_logits=False, num_classes=1000, init_weights=False), 299, IMAGENET),
    "mobilenet": (lambda: torchvision_model("mobilenet_v2")(weights=None, num_classes=1000), 224, IMAGENET),
    "Xception": (timm_model("xception", 1000), 224, IMAGENET),
    "efficientNet_cifar100": (timm_model("efficientnet_b0", 100), 32, CIFAR),
    "resnet18_cifar100": (timm_model("resnet18", 100), 32, CIFAR),
    "resnet34_cifar100": (timm_model("resnet34", 100), 32, CIFAR),
}


def batches(size, samples, side, classes):
    for count in [size] * STEPS + [samples % size] * (samples % size > 0):
        yield torch.rand(count, 3, side, side), torch.randint(0, classes, (count,))


def train(model, criterion, optimizer, loader):
    model.train()
    total = 0.0
    for inputs, labels in loader:
        inputs, labels = inputs.to("cuda"), labels.to("cuda")
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return inputs, labels, outputs, loss  # one function there: these live on until validation binds them again


def validate(model, criterion, loader, _alive):
    model.eval()
    with torch.no_grad():
        for inputs, labels in loader:
            inputs, labels = inputs.to("cuda"), labels.to("cuda")
            outputs = model(inputs)
            criterion(outputs, labels).item()
            outputs.max(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=sorted(MODELS))
    parser.add_argument("batch", type=int)
    arguments = parser.parse_args()
    make, side, data = MODELS[arguments.model]
    model = make()
    model.to("cuda")
    model(torch.rand(2, 3, side, side).to("cuda"))  # torchsummary
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001) if data is IMAGENET else torch.optim.AdamW(model.parameters(), lr=0.001, weight_decay=1e-4)
    criterion = nn.CrossEntropyLoss()
    alive = train(model, criterion, optimizer, batches(arguments.batch, data["train"], side, data["classes"]))
    validate(model, criterion, batches(arguments.batch, data["val"], side, data["classes"]), alive)


if __name__ == "__main__":
    main()
